// Runs every bench by its npm script, as small as it goes: whether it starts and ends well on this machine, not how fast
// anything is. `npm run benches`; exit 1 names the first that fails. A bench without a line here fails, too.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** What makes each of them short. */
const small: Readonly<Record<string, readonly string[]>> = {
  'bench:validate': ['--runs', '1', '--growth', '2'],
  'bench:hostile': ['--scale', '0.001', '--only', 'keys of JSON'],
  'bench:registry': ['--quick'],
  'bench:pull': [],
  'bench:deliveries': ['20', '1'],
  'bench:store': ['1'],
  'bench:install': ['--packages', '30', '--runs', '1'],
  'bench:strangers': [],
  'fuzz:reader': ['--seconds', '20'],
  'fuzz:archives': ['--seconds', '60'],
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
for (const script of Object.keys(scripts).filter((name) => /^(bench|fuzz):/.test(name))) {
  const parameters = small[script]
  if (parameters === undefined) throw new Error(`scripts/benches.ts does not say how ${script} is kept short`)
  console.log(`\n-- npm run ${script} -- ${parameters.join(' ')}`)
  const started = performance.now()
  const { status, signal } = spawnSync('npm', ['run', '--silent', script, '--', ...parameters], {
    cwd: root,
    stdio: 'inherit',
  })
  if (script === 'fuzz:archives' && status === 2)
    console.log('LEFT OUT: the comparison with Go. There is no go here.')
  else if (status !== 0) {
    console.error(`${script} ended with ${signal ?? status}`)
    process.exit(1)
  }
  console.log(`   ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
