// `npm run simulate -- --seed N --runs M [--small] [--exhaustive wide|narrow [--events N]] [--seconds S] [--first]`: runs made-up worlds against the bot's own code, says what
// happened there that must never happen, and makes the first such run as small as it gets. Exit 1 when there is one.
import { parseArgs } from 'node:util'
import { describe, type Plan } from './plan.ts'
import { makePlan } from './make-plan.ts'
import { run, type RunResult } from './run.ts'
import { explore } from './explore.ts'
import { shrink } from './shrink.ts'
import { scopes, smallPlan, smallPlans } from './small-plans.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '100' },
    small: { type: 'boolean', default: false },
    /** All worlds of a small scope, `wide` or `narrow`, those with the fewest events first. */
    exhaustive: { type: 'string' },
    events: { type: 'string', default: '4' },
    seconds: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** Ends at the first run with a violation, and leaves it as it is. */
    first: { type: 'boolean', default: false },
  },
})
const numberOf = (name: 'seed' | 'runs' | 'seconds' | 'events', otherwise: number): number => {
  const text = values[name]
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is a number`)
  return value
}
const say = (line: string) => void process.stdout.write(`${line}\n`)

const first = numberOf('seed', 1 + Math.floor(Math.random() * 1_000_000_000))
const runs = Math.min(numberOf('runs', 100), values.small ? smallPlans : Infinity)
const until = performance.now() + numberOf('seconds', 24 * 3600) * 1000
const planOf = (number: number): Plan => (values.small ? smallPlan(number) : makePlan(number))

const began = performance.now()
const failed: RunResult[] = []
let [done, steps, landings, unmodelled] = [0, 0, 0, 0]
if (values.exhaustive !== undefined) await goThroughSmall()
else {
  say(`simulating from seed ${first}`)
  while (done < runs && performance.now() < until)
    if (!note(await run(planOf(first + done), { isTraced: values.trace }))) break
}
/** Whether to go on. */
function note(result: RunResult): boolean {
  done += 1
  steps += result.steps
  landings += result.landings
  if (!result.isModelled) unmodelled += 1
  if (result.violations.length > 0) {
    failed.push(result)
    tell(result)
    if (values.first) return false
  }
  if (values.trace) for (const line of result.trace) say(`  ${line}`)
  return true
}

/** All of them with no event, with one, with two, until the time is over. */
async function goThroughSmall(): Promise<void> {
  if (values.exhaustive !== 'wide' && values.exhaustive !== 'narrow')
    throw new Error('--exhaustive is wide or narrow')
  const depths = await explore({
    scope: scopes[values.exhaustive],
    run: (plan) => run(plan, { isTraced: values.trace }),
    onRun: (result) => note(result) && performance.now() < until,
    mostEvents: numberOf('events', 4),
  })
  for (const { events, runs: made, cut, isWhole } of depths)
    say(
      `${isWhole ? 'all' : 'some'} worlds with two openings and ${events} ${events === 1 ? 'event' : 'events'} more: ${made} runs, ${cut} like another`,
    )
}
const [worst] = failed
if (worst !== undefined && !values.trace && !values.first) {
  const { result, runs: tries } = await shrink(worst, (plan) => run(plan))
  say(`\nThe first of them, made small in ${tries} runs:`)
  tell(await run(result.plan, { isTraced: true }))
}
const seconds = (performance.now() - began) / 1000
const leftOut = unmodelled === 0 ? '' : `, ${unmodelled} left out for what is not modelled`
const scope = values.small ? ` of ${smallPlans} small ones` : ''
say(
  `${done} runs${scope}${values.exhaustive !== undefined ? '' : ` from seed ${first}`}, ${steps} steps, ${landings} landings, ${seconds.toFixed(1)} s: ${failed.length === 0 ? 'no violation' : `${failed.length} with violations`}${leftOut}`,
)
process.exitCode = failed.length > 0 ? 1 : 0

function tell({ plan, violations, trace, steps: taken }: RunResult): void {
  say(
    `seed ${plan.seed}: ${taken} steps, ${plan.instances} processes, webhooks ${plan.webhooks ? 'on' : 'off'}`,
  )
  for (const event of plan.events) say(`  ${describe(event)}`)
  if (!values.trace) for (const line of trace) say(`  | ${line}`)
  for (const { invariant, what } of violations) say(`  VIOLATION ${invariant}: ${what}`)
}
