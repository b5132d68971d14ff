import { defaultServerConditions } from 'vite'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = defineConfig({
  // Packages of the workspace are tested as they are written, without a build between.
  ssr: { resolve: { conditions: ['tidegate-source', ...defaultServerConditions] } },
  test: {
    // Tests here start processes and real servers; one that hangs shows soon enough.
    testTimeout: 20_000,
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', './scripts/total-reporter.mjs'],
    projects: [
      {
        // What one package promises by itself: the tests that also run on the other Node.js majors.
        extends: true,
        test: { name: 'unit', include: ['{packages,stores,adapters}/*/test/**/*.test.ts'] },
      },
      {
        // What crosses packages, and what needs the built ones.
        extends: true,
        test: { name: 'whole', include: ['test/**/*.test.ts', 'examples/*/test/**/*.test.ts'] },
      },
    ],
    coverage: { include: ['{packages,stores,adapters}/*/src/**/*.ts'] },
  },
})

export default config
