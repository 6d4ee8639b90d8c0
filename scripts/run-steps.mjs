// Runs npm scripts one after the other, up to the first that fails, and says how long each took.
// usage: node scripts/run-steps.mjs SCRIPT...; exit 1 when one fails.
import { spawnSync } from 'node:child_process'
import { startStepTimes } from './step-times.mjs'

const scripts = process.argv.slice(2)
if (scripts.length === 0) {
  console.error('usage: node scripts/run-steps.mjs SCRIPT...')
  process.exit(2)
}
const times = startStepTimes()
for (const script of scripts) {
  const { status, signal } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' })
  times.end(script)
  if (status === 0) continue
  console.error(`${script} ended with ${signal ?? status}`)
  process.exitCode = 1
  break
}
console.log(`\n${times.table()}`)
