// Holds the arrows of docs/design.md: who may import whom, in manifests and in sources.
//
//   node scripts/check-imports.mjs [root]
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { parseSync, Visitor } from 'vite'
import { filesIn, root as here, packages } from './workspace.mjs'

const scope = '@tidegate/'

/** What each package may import from the workspace. A package that is missing here is a finding. */
const arrows = {
  contract: [],
  'store-memory': ['contract'],
  'redis-lua': ['contract'],
  conformance: ['contract'],
  core: ['contract', 'store-memory'],
  http: ['core'],
  express: ['core', 'http'],
  koa: ['core', 'http'],
  fastify: ['core', 'http'],
  'store-ioredis': ['contract', 'redis-lua'],
  'store-upstash': ['contract', 'redis-lua'],
  telemetry: ['core'],
  fetch: ['core'],
  undici: ['core'],
}

/** What a user brings along; all that comes from outside the workspace, but for fastify-plugin. */
const peers = {
  express: ['express'],
  koa: ['koa'],
  fastify: ['fastify'],
  'store-ioredis': ['ioredis'],
  'store-upstash': ['@upstash/redis'],
  telemetry: ['prom-client', '@opentelemetry/api', 'pino'],
  undici: ['undici'],
}
const dependencies = { fastify: ['fastify-plugin'] }

/** These run wherever JavaScript does. */
const withoutNode = ['contract', 'store-memory', 'core']

const root = resolve(process.argv[2] ?? here)
const findings = packages(root).flatMap(judge)
for (const finding of findings) console.error(finding)
if (findings.length > 0) process.exitCode = 1
else console.log('every import follows its arrow')

function judge({ dir, manifest }) {
  const name = manifest.name.replace(scope, '')
  const allowed = arrows[name]
  if (!allowed)
    return [`${dir}/package.json: ${manifest.name} has no arrows in scripts/check-imports.mjs yet`]
  const inside = allowed.map((other) => scope + other)
  const outside = [...(peers[name] ?? []), ...(dependencies[name] ?? [])]
  return [
    ...judgeManifest(dir, manifest, [...inside, ...(dependencies[name] ?? [])], peers[name] ?? []),
    ...importsIn(dir, 'src').flatMap(({ file, specifier }) => {
      const why = forbidden(dir, name, file, specifier, [...inside, ...outside])
      return why ? [`${file}: imports ${specifier}, ${why}`] : []
    }),
    ...(dir.startsWith('stores/') ? judgeStoreTests(dir, manifest) : []),
  ]
}

function judgeManifest(dir, manifest, runtime, brought) {
  const of = (field, allowed) =>
    Object.keys(manifest[field] ?? {})
      .filter((dependency) => !allowed.includes(dependency))
      .map((dependency) => `${dir}/package.json: ${field} has ${dependency}, which its arrows do not allow`)
  return [
    ...of('dependencies', runtime),
    ...of('optionalDependencies', []),
    ...of('peerDependencies', [...runtime, ...brought]),
  ]
}

/** Why a source may not import this, or undefined where it may. */
function forbidden(dir, name, file, specifier, allowed) {
  if (specifier.startsWith('.')) {
    const target = relative(join(root, dir), resolve(root, file, '..', specifier))
    return target.startsWith('..') ? 'which lies outside the package' : undefined
  }
  if (isBuiltin(specifier)) {
    return withoutNode.includes(name) ? `but ${scope}${name} uses nothing of node:` : undefined
  }
  return allowed.includes(packageOf(specifier)) ? undefined : 'which its arrows do not allow'
}

/** A store is written against the contract alone, and proved against it alone. */
function judgeStoreTests(dir, manifest) {
  const core = `${scope}core`
  const isCore = ({ file, specifier }) =>
    packageOf(specifier) === core ||
    (specifier.startsWith('.') &&
      resolve(root, file, '..', specifier).startsWith(join(root, 'packages/core')))
  return [
    ...(manifest.devDependencies?.[core]
      ? [`${dir}/package.json: devDependencies has ${core}; a store never imports core`]
      : []),
    ...importsIn(dir, 'test')
      .filter(isCore)
      .map(
        ({ file, specifier }) =>
          `${file}: imports ${specifier}; a store never imports core, in its tests either`,
      ),
  ]
}

function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Every module that the TypeScript of a folder names, types and dynamic imports included. */
function importsIn(dir, folder) {
  return filesIn(join(root, dir, folder))
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .flatMap((file) => specifiersOf(file).map((specifier) => ({ file: relative(root, file), specifier })))
}

function specifiersOf(file) {
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'))
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const found = []
  const take = (literal) => typeof literal?.value === 'string' && found.push(literal.value)
  const source = (node) => take(node.source)
  new Visitor({
    ImportDeclaration: source,
    ExportNamedDeclaration: source,
    ExportAllDeclaration: source,
    ImportExpression: source,
    TSImportType: source,
    TSExternalModuleReference: (node) => take(node.expression),
    CallExpression: (node) => node.callee.name === 'require' && take(node.arguments[0]),
  }).visit(program)
  return found
}
