// Runs npm scripts until the first failure, and prints how long each took. Scripts run in sequence, except that a
// plus sign joins scripts that run in parallel. Usage: node scripts/run-steps.mjs SCRIPT[+SCRIPT...]... Exits with 1
// if one fails.
import { spawnSync } from 'node:child_process'
import { runInParallel } from './run-in-parallel.mjs'
import { startStepTimer } from './step-times.mjs'

const steps = process.argv.slice(2).map((step) => step.split('+'))
if (steps.length === 0) {
  console.error('usage: node scripts/run-steps.mjs SCRIPT[+SCRIPT...]...')
  process.exit(2)
}
const times = startStepTimer()
const npm = (script) => ['run', '--silent', script]
const isFine = ({ name, status, signal }) => {
  if (status !== 0) console.error(`${name} exited with ${signal ?? status}`)
  return status === 0
}

async function runStep(scripts) {
  if (scripts.length > 1) {
    const commands = scripts.map((name) => ({ name, program: 'npm', args: npm(name) }))
    const onEnd = ({ name, seconds }) => times.add(name, seconds)
    return (await runInParallel(commands, { onEnd })).every(isFine)
  }
  const [name] = scripts
  const { status, signal } = spawnSync('npm', npm(name), { stdio: 'inherit' })
  times.end(name)
  return isFine({ name, status, signal })
}

for (const step of steps) {
  if (await runStep(step)) continue
  process.exitCode = 1
  break
}
console.log(`\n${times.table()}`)
