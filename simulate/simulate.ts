// `npm run simulate -- --seed N --runs M [--small] [--exhaustive wide|narrow [--events N]] [--seconds S] [--first]`:
// runs generated scenarios against catalog-bot's own code, reports violated invariants, and shrinks the first failing
// run. Exits with 1 if a run fails.
import { parseArgs } from 'node:util'
import { formatPlannedEvent, type SimulationPlan } from './simulation-plan.ts'
import { generatePlan } from './generate-plan.ts'
import { runSimulation, type SimulationResult } from './run-simulation.ts'
import { explorePlans } from './explore-plans.ts'
import { shrinkPlan } from './shrink-plan.ts'
import { explorationScopes, createSmallPlan, smallPlanCount } from './small-plans.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '100' },
    small: { type: 'boolean', default: false },
    /** Runs all scenarios of a small scope, `wide` or `narrow`, in order of their number of events. */
    exhaustive: { type: 'string' },
    events: { type: 'string', default: '4' },
    seconds: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** Stops at the first run with a violation, and does not shrink it. */
    first: { type: 'boolean', default: false },
  },
})
const parseNumberOption = (name: 'seed' | 'runs' | 'seconds' | 'events', otherwise: number): number => {
  const text = values[name]
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} must be a number`)
  return value
}
const printLine = (line: string) => void process.stdout.write(`${line}\n`)

const firstSeed = parseNumberOption('seed', 1 + Math.floor(Math.random() * 1_000_000_000))
const runCount = Math.min(parseNumberOption('runs', 100), values.small ? smallPlanCount : Infinity)
const deadlineMs = performance.now() + parseNumberOption('seconds', 24 * 3600) * 1000
const createSimulationPlan = (number: number): SimulationPlan =>
  values.small ? createSmallPlan(number) : generatePlan(number)

const startedAt = performance.now()
const failedRuns: SimulationResult[] = []
let [done, steps, merges, unmodelled] = [0, 0, 0, 0]
if (values.exhaustive !== undefined) await exploreSmallPlans()
else {
  printLine(`simulating from seed ${firstSeed}`)
  while (done < runCount && performance.now() < deadlineMs)
    if (
      !recordSimulationResult(
        await runSimulation(createSimulationPlan(firstSeed + done), { isTraced: values.trace }),
      )
    )
      break
}
/** Whether to continue. */
function recordSimulationResult(result: SimulationResult): boolean {
  done += 1
  steps += result.steps
  merges += result.landings
  if (!result.isModelled) unmodelled += 1
  if (result.violations.length > 0) {
    failedRuns.push(result)
    reportFailure(result)
    if (values.first) return false
  }
  if (values.trace) for (const line of result.trace) printLine(`  ${line}`)
  return true
}

/** Runs all scenarios with no event, then with one, then with two, until the time is up. */
async function exploreSmallPlans(): Promise<void> {
  if (values.exhaustive !== 'wide' && values.exhaustive !== 'narrow')
    throw new Error('--exhaustive must be wide or narrow')
  const depths = await explorePlans({
    scope: explorationScopes[values.exhaustive],
    run: (plan) => runSimulation(plan, { isTraced: values.trace }),
    onRun: (result) => recordSimulationResult(result) && performance.now() < deadlineMs,
    maxEvents: parseNumberOption('events', 4),
  })
  for (const { events, runs: made, cut, isWhole } of depths)
    printLine(
      `${isWhole ? 'all' : 'some'} scenarios with two opened pull requests and ${events} more ${events === 1 ? 'event' : 'events'}: ${made} runs, ${cut} duplicates`,
    )
}
const [worst] = failedRuns
if (worst !== undefined && !values.trace && !values.first) {
  const { result, runs: tries } = await shrinkPlan(worst, (plan) => runSimulation(plan))
  printLine(`\nThe first failing run, shrunk in ${tries} runs:`)
  reportFailure(await runSimulation(result.plan, { isTraced: true }))
}
const elapsedSeconds = (performance.now() - startedAt) / 1000
const skippedRunsSummary =
  unmodelled === 0 ? '' : `, ${unmodelled} skipped because of behavior that is not modeled`
const smallPlansLabel = values.small ? ` of ${smallPlanCount} small plans` : ''
printLine(
  `${done} runs${smallPlansLabel}${values.exhaustive !== undefined ? '' : ` from seed ${firstSeed}`}, ${steps} steps, ${merges} merges, ${elapsedSeconds.toFixed(1)} s: ${failedRuns.length === 0 ? 'no violation' : `${failedRuns.length} with violations`}${skippedRunsSummary}`,
)
process.exitCode = failedRuns.length > 0 ? 1 : 0

function reportFailure({ plan, violations, trace, steps: taken }: SimulationResult): void {
  printLine(
    `seed ${plan.seed}: ${taken} steps, ${plan.instances} processes, webhooks ${plan.webhooks ? 'on' : 'off'}`,
  )
  for (const event of plan.events) printLine(`  ${formatPlannedEvent(event)}`)
  if (!values.trace) for (const line of trace) printLine(`  | ${line}`)
  for (const { invariant, what } of violations) printLine(`  VIOLATION ${invariant}: ${what}`)
}
