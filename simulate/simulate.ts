// `npm run simulate -- --seed N --runs M`: runs made-up worlds against the bot's own code, and says what must never happen and
// did. Exit 1 when something did.
import { parseArgs } from 'node:util'
import { describe } from './plan.ts'
import { makePlan } from './make-plan.ts'
import { run } from './run.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '100' },
    trace: { type: 'boolean', default: false },
    seconds: { type: 'string' },
  },
})
const first = values.seed === undefined ? 1 + Math.floor(Math.random() * 1_000_000_000) : Number(values.seed)
const say = (line: string) => void process.stdout.write(`${line}\n`)

let steps = 0
let landings = 0
let failed = 0
const runs = Number(values.runs)
const began = performance.now()
for (let seed = first; seed < first + runs; seed++) {
  const plan = makePlan(seed)
  const result = await run(plan, { isTraced: values.trace })
  steps += result.steps
  landings += result.landings
  if (result.violations.length === 0 && !values.trace) continue
  if (result.violations.length > 0) failed += 1
  say(`seed ${seed}: ${result.violations.length} violations, ${result.steps} steps`)
  for (const event of plan.events) say(`  ${describe(event)}`)
  for (const { invariant, what } of result.violations) say(`  VIOLATION ${invariant}: ${what}`)
  if (values.trace) for (const line of result.trace) say(`  ${line}`)
}
const seconds = (performance.now() - began) / 1000
say(
  `${runs} runs from seed ${first}: ${failed} with violations; ${steps} steps, ${landings} landings, ${seconds.toFixed(1)} s`,
)
process.exitCode = failed > 0 ? 1 : 0
