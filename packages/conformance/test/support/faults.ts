import { type CircuitState, SWAPS } from '@tidegate/contract'
import { STUMBLES } from './stumbles'

const STATES = Object.keys(SWAPS) as CircuitState[]

/** A swap of the table that is missing, or one beside it that lands. */
const swapFaults = STATES.flatMap((from) =>
  STATES.map((to) => {
    const [lands, refuses] = [`lands ${from} -> ${to}`, `refuses ${from} -> ${to}`]
    return SWAPS[from].includes(to) ? [refuses, lands] : [lands, refuses]
  }),
)

const nameFaults = Object.keys(STUMBLES).map((what) => [`stumbles over ${what}`, `takes a name of ${what}`])

/** What a store may get wrong about circuits, and the cases that must find it. */
export const FAULTS: Readonly<Record<string, string | readonly string[]>> = {
  ...Object.fromEntries([...swapFaults, ...nameFaults]),
  'declares another push': 'declares what the harness says it declares',
  'is never ready': 'is ready, or does not say',
  'lets who creates win': 'does not take the one who came by for the one who won',
  'counts fences without a clock': [
    'mints from its clock in microseconds',
    'mints later fences after the circuit was forgotten',
    'mints later fences after the circuit expired',
  ],
  'creates all circuits under one fence':
    'mints no fence twice after its clock was set back and the circuit lost',
  'numbers its periods': 'refuses what was decided on writes that a failover lost',
  'forgets the digits before': 'mints rising fences while its clock is set back',
  'rounds its digits': 'mints a greater fence with each swap, with the nonce that won it',
  'leaves the nonce out of fences': 'creates an absent circuit closed, under a fence that nobody won',
  'mints a fence for each reader': 'keeps the fence while nothing is swapped',
  'keeps the fence when the permit moves': 'lets a late success close nothing that came after',
  'takes any fence': 'takes no fence that is not one',
  'ignores the fence': 'refuses a swap under an old fence',
  'opens whatever the fence': 'lets a late failure open nothing that came after',
  'lets anyone yield whatever the fence': 'lets a late yield free nothing of the next holder',
  'ignores the state': 'refuses a swap from a state that is not the present one',
  'stands still': 'tells its time with each answer',
  'starts cooldowns late': 'starts the cooldown now, for everybody',
  'drops openedAt while half-open': 'keeps openedAt and probeAfter while half-open',
  'keeps openedAt': 'has neither openedAt nor probeAfter where it is closed or isolated',
  'lends for too long': 'lends the permit until now and the lease',
  'counts the first trip as none': 'counts the first trip as one',
  'counts no second trip': 'counts a trip more when a probe fails',
  'forgets trips on closing': 'counts on when it opens again soon after it closed',
  'never forgets trips': 'starts over once it stayed closed for a window',
  'decays trips in any state': 'keeps the trips of an open circuit however long',
  'claims before probeAfter': 'refuses a probe before probeAfter',
  'takes the cooldown of the prober':
    'refuses a probe before probeAfter though the prober brings a shorter cooldown',
  'moves a permit under its lease': 'refuses a claim while the permit is out',
  'never lends a lapsed permit': [
    'lends the permit again once its lease ran out',
    'lands one of many claims of a permit whose lease ran out',
  ],
  'lends to who tripped it alone': [
    'lends the permit to the one who asks from probeAfter on',
    'lands one of many claims of a circuit whose cooldown is over',
  ],
  'takes no verdict once the lease ran out':
    'takes the verdict of an owner whose lease ran out while nobody claimed',
  'trips what is open': 'lets nobody trip a circuit that is open, and move its cooldown',
  'yields nothing': 'frees the permit that its owner yields',
  'yields what is another’s': 'refuses a yield of a permit that is another’s',
  'yields what lies free': 'refuses a yield of a permit that lies free',
  'counts each yield': 'counts the probes that succeeded, and no others',
  'keeps probe successes': 'begins each recovery with no probe succeeded',
  'counts under any fence': 'counts nothing under an old fence',
  'answers no counters to the late': 'counts nothing under an old fence',
  'keeps counts over a swap': [
    'clears the window with each swap, in the same step',
    'shows no counts of one period with the fence of another',
    'refuses a tally again once its period is over',
  ],
  'counts nothing': 'counts a tally under the present fence',
  'keeps one window for all': 'keeps two circuits apart',
  'forgets the state alone': 'clears the window when it forgets the circuit',
  'escapes names badly': 'keeps names apart that look alike',
  'folds case': 'keeps names apart that look alike',
  'awaits before it counts': 'adds up tallies that arrive at once',
  'counts no slow calls': 'counts successes, failures and slow calls of a time window',
  'counts beyond the window': 'keeps an outcome for nine tenths of the window, and none for longer than it',
  'forgets only when it counts': 'leaves old outcomes out of the answer to a tally that changes nothing',
  'starts its window over': 'lets outcomes leave a time window in the order in which they came',
  'throws at a window of another size': 'counts from then on where the window changes its size',
  'counts less than the window':
    'keeps an outcome for nine tenths of the window, and none for longer than it',
  'ignores trailing failures': [
    'counts failures since the last success, across instances',
    'adds up what several instances tell',
  ],
  'keeps reporters after a success': 'counts who failed since the last success',
  'forgets runs with time': 'forgets no run of failures because time passes',
  'counts a call too many': 'counts the last calls, and no more of them',
  'throws at another window': 'counts from then on where the window changes its kind',
  'lands what landed': 'answers a landed trip again, and trips once',
  'refuses what landed': 'answers a landed claim again, and moves no lease',
  'counts a success with each repeat': 'answers a landed yield again, and counts one success',
  'lands what lost on its repeat': 'refuses a swap that lost again',
  'clears the window on a repeat': 'answers a landed reset again, and keeps what was counted since',
  'ignores repeats past their deadline': 'answers a landed swap again past its deadline',
  'forgets what it refused': 'refuses a probe that came too early again, when it no longer does',
  'mistakes one refusal for all': 'refuses a claim of a permit that was out again, when it no longer is',
  'counts repeats': 'counts a tally once',
  'refuses repeated tallies': 'counts a tally once',
  'knows only the last tally': 'counts a tally once though a later one arrived between',
  'numbers tallies for all instances': 'counts tallies of one number from two instances',
  'ignores deadlines': 'does nothing for a swap past its deadline',
  'ignores the deadlines of tallies': 'counts no tally past its deadline',
  'judges deadlines a minute early': 'takes a command until its deadline',
  'counts readers out of the fleet': 'counts each instance once, whatever it sent',
  'forgets the fleet with a swap': 'keeps counting instances when the period changes',
  'never forgets an instance': 'counts an instance out a minute after its last touch, and not before',
  'counts the fleet by the window alone':
    'counts an instance out a minute after its last touch, and not before',
  'counts the fleet by the minute alone':
    'counts an instance for as long as the window, where that is longer',
  'keeps isolated circuits when told to forget': 'forgets an isolated circuit where it is told to',
  'throws where there is nothing to forget': [
    'forgets what is not there',
    'takes a name that is nothing but hostile',
  ],
  'keeps what was isolated once': 'lets a circuit go again after its isolation ended',
  'keeps everything': 'lets a circuit go once its idle lease ran out',
  'keeps idle circuits too shortly': 'keeps a circuit for its idle lease',
  'keeps exactly as long as the cooldown': 'keeps a circuit open beyond a long cooldown, to be probed',
  'renews by reads alone': 'renews the idle lease with any touch',
  'shortens leases': 'shortens no idle lease because another one brings shorter terms',
  'lets isolated circuits expire': 'keeps an isolated circuit for good',
  'pushes nothing': 'tells of a swap that landed, with what holds since',
  'shares nothing': 'sees what another process did',
  'pushes to its own process alone': 'tells of what another process swapped',
  'pushes nothing but the state': 'tells of a swap that landed, with what holds since',
  'tells everybody of everything': 'tells nothing of what did not land, or belongs to another circuit',
  'cannot unsubscribe': 'tells nothing any more to who unsubscribed, and goes on telling the others',
  'unsubscribes everybody': 'tells nothing any more to who unsubscribed, and goes on telling the others',
  'lets listeners break a swap': 'lands the swap and tells the others though a listener throws',
  'cuts instances at a bar': 'tells an owner and an instance apart by the letter',
  'awaits before it writes': [
    'lands one of many trips',
    'lands one of two verdicts under a fence',
    'lands one of many swaps that are each delivered many times at once',
    'lands at most one of whatever is decided on a fence at once',
  ],
  'remembers wins for good': [
    'refuses a landed trip again though the circuit is open once more',
    'refuses a landed swap again once its period is over',
    'keeps to the contract in random orders, repeats among them',
  ],
  'throws at a lost swap': 'refuses a swap under an old fence',
  'opens by the clock of its caller': 'starts the cooldown now, for everybody',
  'creates for each who comes by': 'creates one circuit for all who come by at once',
  'begins again at the digits it began with': 'mints later fences after everything was flushed',
  'refuses a counted tally past its deadline': 'answers a counted tally again past its deadline',
  'clears the window where it refuses': 'keeps what was counted where it refuses a swap',
  'counts nothing before its latest moment': 'counts on while its clock is set back',
  'has no subscribe': 'offers subscribe where it declares push',
}

/** A key of {@link FAULTS}, or of those of another part. */
export type Fault = string
