// Our findings in bundles beside what the validators of operator-framework/api and opm say: how often they agree, rule by
// rule and bundle by bundle, and where not. Builds the validators from their Go modules first, which takes some minutes,
// unless `--program PATH` names a program that is built.
// `node test/bundle-validators/compare-validators.ts [--program PATH] [--show N] DIRECTORY...`: every directory below with
// `manifests/` is a bundle; exit 1 where an error is on one side only and no known difference explains it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { validateBundle } from '../../src/bundle/validate-bundle.ts'
import { filesBelow } from '../../src/cli/pulled-bundles.ts'
import { suites } from '../../src/findings/suites.ts'
import { goCommand } from '../go-readers/go-readers.ts'
import { counterpartsOf, explanations, theirsAlone, type Said } from './counterparts.ts'

const { values, positionals } = parseArgs({
  options: { program: { type: 'string' }, show: { type: 'string', default: '5' } },
  allowPositionals: true,
})

const beside = join(import.meta.dirname, '../../../shared/bundles')
const roots = positionals.length > 0 ? positionals : existsSync(beside) ? [beside] : []
if (roots.length === 0) throw new Error('name directories of bundles')
const bundles = roots.flatMap((root) => bundlesBelow(root)).sort()
const directory = values.program === undefined ? mkdtempSync(join(tmpdir(), 'bundle-validators-')) : undefined
const program = values.program ?? build(join(directory ?? '', 'bundle-validators'))
const { stdout, status, stderr } = spawnSync(program, {
  input: `${bundles.join('\n')}\n`,
  encoding: 'utf8',
  maxBuffer: 1024 ** 3,
})
if (directory !== undefined) rmSync(directory, { recursive: true })
if (status !== 0) throw new Error(`the validators ended with ${status}: ${stderr}`)

interface Tally {
  both: number
  theirs: string[]
  ours: string[]
}
const byRule = new Map<string, Tally>()
const explained = new Map<string, number>()
let [agreed, differing] = [0, 0]
for (const line of stdout.trim().split('\n')) {
  if (line === '') continue
  const { directory: bundle, said } = JSON.parse(line) as { directory: string; said: readonly Said[] }
  compare(bundle, said)
}

for (const [rule, { both, theirs, ours }] of [...byRule].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(
    `${String(both).padStart(5)} both ${String(theirs.length).padStart(5)} theirs ${String(ours.length).padStart(5)} ours  ${rule}`,
  )
  for (const example of [...theirs, ...ours].slice(0, Number(values.show))) console.log(`        ${example}`)
}
for (const [why, count] of [...explained].sort())
  console.log(`${String(count).padStart(5)} explained: ${why}`)
console.log(`${bundles.length} bundles: the same errors in ${agreed}, others in ${differing}`)
process.exitCode = differing > 0 ? 1 : 0

/** Notes for each of our rules whether both, only they or only we tell it of a bundle; and whether the errors are the same. */
function compare(bundle: string, said: readonly Said[]): void {
  const { findings } = validateBundle(filesBelow(bundle), {
    packedSize: (bytes) => gzipSync(bytes).length,
    suites,
  })
  const severities = new Map<string, string>()
  for (const { rule, severity } of findings)
    if (severities.get(rule) !== 'error') severities.set(rule, severity)
  const theirs = new Map<string, Said>()
  let differs = false
  const hasStopped = said.some(({ validator }) => validator === 'load')
  for (const one of said) {
    const why = theirsAlone(one)
    if (why !== undefined) {
      explained.set(why, (explained.get(why) ?? 0) + 1)
      continue
    }
    const candidates = counterpartsOf(one)
    const found = candidates.find((rule) => severities.has(rule))
    const rule = found ?? candidates[0] ?? 'nothing of ours'
    if (theirs.get(rule)?.level !== 'error') theirs.set(rule, one)
    for (const other of candidates) if (severities.has(other)) theirs.set(other, theirs.get(other) ?? one)
  }
  for (const rule of new Set([...theirs.keys(), ...severities.keys()])) {
    const [their, our] = [theirs.get(rule), severities.get(rule)]
    const tally = byRule.get(rule) ?? { both: 0, theirs: [], ours: [] }
    byRule.set(rule, tally)
    const words = findings.find((one) => one.rule === rule)?.what.slice(0, 160)
    if (their && our) {
      tally.both++
      if ((their.level === 'error') === (our === 'error')) continue
      tally.theirs.push(
        `level: ${bundle}: ${their.level} for them, ${our} for us: ${their.detail.slice(0, 160)}`,
      )
    } else if (their)
      tally.theirs.push(`${bundle}: ${their.level} ${their.validator} ${their.detail.slice(0, 200)}`)
    else tally.ours.push(`${bundle}: ${our} ${words}`)
    const isError = their?.level === 'error' || our === 'error'
    const why =
      explanations.get(rule) ??
      (!their && hasStopped ? 'they cannot load the bundle, and look no further' : undefined)
    if (!isError) continue
    if (why === undefined) differs = true
    else explained.set(why, (explained.get(why) ?? 0) + 1)
  }
  if (differs) differing++
  else agreed++
}

function bundlesBelow(root: string): string[] {
  if (existsSync(join(root, 'manifests'))) return [root]
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => bundlesBelow(join(root, name)))
}

function build(path: string): string {
  const go = goCommand()
  if (go === undefined) throw new Error('there is no go: give --program')
  const built = spawnSync(go, ['build', '-o', path, '.'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '' },
  })
  if (built.status !== 0) throw new Error(`the validators could not be built: ${built.stderr}`)
  return path
}
