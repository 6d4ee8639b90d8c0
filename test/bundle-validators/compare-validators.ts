// Compares our findings in bundles with those of opm and the validators of operator-framework/api, by rule and by bundle.
// First builds the validators from their Go modules, which takes some minutes, unless `--program PATH` names a built
// program.
// `node test/bundle-validators/compare-validators.ts [--program PATH] [--show N] DIRECTORY...`: every directory below with
// `manifests/` is a bundle. Exits with 1 if only one side has an error and no known difference explains it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { validateBundle } from '../../packages/bundle/src/validate-bundle.ts'
import { readBundleDirectory } from '../../src/cli/pulled-bundles.ts'
import { ruleSuiteNames } from '../../packages/findings/src/rule.ts'
import { findGoCommand } from '../go-readers/go-readers.ts'
import {
  findEquivalentRules,
  validatorDifferenceReasonByRule,
  explainUnreportedFinding,
  type ValidatorFinding,
} from './equivalent-rules.ts'

const { values, positionals } = parseArgs({
  options: { program: { type: 'string' }, show: { type: 'string', default: '5' } },
  allowPositionals: true,
})

const sharedBundlesDirectory = join(import.meta.dirname, '../../../shared/bundles')
const bundleRootDirectories =
  positionals.length > 0 ? positionals : existsSync(sharedBundlesDirectory) ? [sharedBundlesDirectory] : []
if (bundleRootDirectories.length === 0) throw new Error('name directories of bundles')
const bundleDirectories = bundleRootDirectories.flatMap((root) => findBundleDirectories(root)).sort()
const validatorsBuildDirectory =
  values.program === undefined ? mkdtempSync(join(tmpdir(), 'bundle-validators-')) : undefined
const validatorsProgramPath =
  values.program ?? buildValidators(join(validatorsBuildDirectory ?? '', 'bundle-validators'))
const { stdout, status, stderr } = spawnSync(validatorsProgramPath, {
  input: `${bundleDirectories.join('\n')}\n`,
  encoding: 'utf8',
  maxBuffer: 1024 ** 3,
})
if (validatorsBuildDirectory !== undefined) rmSync(validatorsBuildDirectory, { recursive: true })
if (status !== 0) throw new Error(`the validators ended with ${status}: ${stderr}`)

interface ValidatorRuleTally {
  foundByBoth: number
  onlyTheirs: string[]
  onlyOurs: string[]
}
const validatorTallyByRule = new Map<string, ValidatorRuleTally>()
const explainedDifferenceCountByReason = new Map<string, number>()
let [agreed, differing] = [0, 0]
for (const line of stdout.trim().split('\n')) {
  if (line === '') continue
  const { directory: bundle, said } = JSON.parse(line) as {
    directory: string
    said: readonly ValidatorFinding[]
  }
  tallyValidatorFindings(bundle, said)
}

for (const [rule, { foundByBoth, onlyTheirs, onlyOurs }] of [...validatorTallyByRule].sort(([a], [b]) =>
  a < b ? -1 : 1,
)) {
  console.log(
    `${String(foundByBoth).padStart(5)} both ${String(onlyTheirs.length).padStart(5)} theirs ${String(onlyOurs.length).padStart(5)} ours  ${rule}`,
  )
  for (const example of [...onlyTheirs, ...onlyOurs].slice(0, Number(values.show)))
    console.log(`        ${example}`)
}
for (const [why, count] of [...explainedDifferenceCountByReason].sort())
  console.log(`${String(count).padStart(5)} explained: ${why}`)
console.log(`${bundleDirectories.length} bundles: the same errors in ${agreed}, others in ${differing}`)
process.exitCode = differing > 0 ? 1 : 0

/** Records for each rule whether both sides, only they, or only we report it, and whether the errors are the same. */
function tallyValidatorFindings(bundle: string, validatorFindings: readonly ValidatorFinding[]): void {
  const { findings } = validateBundle(readBundleDirectory(bundle), {
    packedSize: (bytes) => gzipSync(bytes).length,
    suites: ruleSuiteNames,
  })
  const severities = new Map<string, string>()
  for (const { rule, severity } of findings)
    if (severities.get(rule) !== 'error') severities.set(rule, severity)
  const theirs = new Map<string, ValidatorFinding>()
  let differs = false
  const hasStopped = validatorFindings.some(({ validator }) => validator === 'load')
  for (const one of validatorFindings) {
    const why = explainUnreportedFinding(one)
    if (why !== undefined) {
      explainedDifferenceCountByReason.set(why, (explainedDifferenceCountByReason.get(why) ?? 0) + 1)
      continue
    }
    const candidates = findEquivalentRules(one)
    const found = candidates.find((rule) => severities.has(rule))
    const rule = found ?? candidates[0] ?? 'nothing of ours'
    if (theirs.get(rule)?.level !== 'error') theirs.set(rule, one)
    for (const other of candidates) if (severities.has(other)) theirs.set(other, theirs.get(other) ?? one)
  }
  for (const rule of new Set([...theirs.keys(), ...severities.keys()])) {
    const [their, our] = [theirs.get(rule), severities.get(rule)]
    const tally = validatorTallyByRule.get(rule) ?? { foundByBoth: 0, onlyTheirs: [], onlyOurs: [] }
    validatorTallyByRule.set(rule, tally)
    const ourMessage = findings.find((one) => one.rule === rule)?.what.slice(0, 160)
    if (their && our) {
      tally.foundByBoth++
      if ((their.level === 'error') === (our === 'error')) continue
      tally.onlyTheirs.push(
        `level: ${bundle}: ${their.level} for them, ${our} for us: ${their.detail.slice(0, 160)}`,
      )
    } else if (their)
      tally.onlyTheirs.push(`${bundle}: ${their.level} ${their.validator} ${their.detail.slice(0, 200)}`)
    else tally.onlyOurs.push(`${bundle}: ${our} ${ourMessage}`)
    const isError = their?.level === 'error' || our === 'error'
    const why =
      validatorDifferenceReasonByRule.get(rule) ??
      (!their && hasStopped ? 'they cannot load the bundle, and look no further' : undefined)
    if (!isError) continue
    if (why === undefined) differs = true
    else explainedDifferenceCountByReason.set(why, (explainedDifferenceCountByReason.get(why) ?? 0) + 1)
  }
  if (differs) differing++
  else agreed++
}

function findBundleDirectories(root: string): string[] {
  if (existsSync(join(root, 'manifests'))) return [root]
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => findBundleDirectories(join(root, name)))
}

function buildValidators(path: string): string {
  const go = findGoCommand()
  if (go === undefined) throw new Error('there is no go: give --program')
  const built = spawnSync(go, ['build', '-o', path, '.'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '' },
  })
  if (built.status !== 0) throw new Error(`the validators could not be built: ${built.stderr}`)
  return path
}
