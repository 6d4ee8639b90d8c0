// Our resolver beside OLM's own, on generated problems: how often they agree, and where not. Builds OLM's from its Go
// module first, which takes some minutes, unless `--program PATH` names one that is built.
// `node test/checks/install/compare-with-olm.ts [--problems N] [--from SEED] [--program PATH]`; exit 1 where they differ.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Resolution } from '../../../src/checks/install/resolve/resolve.ts'
import { goCommand } from '../../go-readers/go-readers.ts'
import { randomProblem, type RandomProblem } from './random-problems.ts'
import { resolverCases } from './resolver-cases.ts'
import { resolveProblem } from './resolve-problem.ts'
import { writtenProblem } from './written-catalog.ts'

interface OlmAnswer {
  readonly refused?: string
  readonly error?: string
  readonly set?: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly catalog: string
    readonly replaces: string
  }[]
}

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    program: { type: 'string' },
    show: { type: 'string', default: '5' },
  },
})

const directory = values.program === undefined ? mkdtempSync(join(tmpdir(), 'olm-resolver-')) : undefined
const olm = spawn(values.program ?? build(join(directory ?? '', 'olm-resolver')), {
  stdio: ['pipe', 'pipe', 'inherit'],
})
let casesThatAgree = 0
const waiting: ((answer: OlmAnswer) => void)[] = []
createInterface({ input: olm.stdout }).on('line', (line) => waiting.shift()?.(JSON.parse(line) as OlmAnswer))

for (const { claim, catalog, subscriptions, gives } of resolverCases) {
  const { refused, error, set } = await ask(writtenProblem(catalog, subscriptions))
  const names = (set ?? []).map(({ name }) => name).sort()
  // The words of a chain that can be cut in several ways differ; what kind of answer it is does not.
  const isSame =
    typeof gives === 'string' ? error !== undefined : error === undefined && names.join() === gives.join()
  if (!isSame)
    console.log(`case "${claim}": we say ${String(gives)}, OLM ${refused ?? error ?? names.join()}`)
  if (isSame) casesThatAgree++
}
console.log(`${casesThatAgree} of the ${resolverCases.length} cases of resolver-cases.ts are as OLM has them`)
const counts = new Map<string, number>()
let shown = 0
for (let seed = Number(values.from), end = seed + Number(values.problems); seed < end; seed++) {
  const problem = randomProblem(seed)
  const theirs = await ask(problem)
  const ours = resolveProblem(problem)
  let kind = compare(problem, ours, theirs)
  // OLM gives its solver what must be there in the order of a Go map: with more than one its answer can change.
  const mandatory =
    problem.subscriptions.length + problem.installed.filter((one) => one.subscription === '').length
  for (let again = 0; again < 30 && kind.startsWith('differ') && mandatory > 1; again++)
    if (!compare(problem, ours, await ask(problem)).startsWith('differ'))
      kind = "agree: with one of OLM's answers, which change from run to run"
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  if (!kind.startsWith('differ') || shown++ >= Number(values.show)) continue
  console.log(
    `seed ${seed}: ${kind}\n  ours:   ${JSON.stringify(briefly(ours))}\n  theirs: ${JSON.stringify(theirs)}`,
  )
}
olm.stdin.end()
if (directory !== undefined) rmSync(directory, { recursive: true })
for (const [kind, count] of [...counts].sort()) console.log(`${String(count).padStart(7)}  ${kind}`)
const differs = [...counts.keys()].some((kind) => kind.startsWith('differ'))
process.exitCode = differs || casesThatAgree < resolverCases.length ? 1 : 0

function compare(problem: RandomProblem, ours: Resolution, { refused, error, set }: OlmAnswer): string {
  if (refused !== undefined) return 'left out: opm refuses the catalog'
  if (ours.kind === 'unknown') return 'left out: we do not know'
  if (error !== undefined) {
    const isUnsatisfiable = error.startsWith('constraints not satisfiable')
    if (ours.kind === 'resolved') return 'differ: they fail, we do not'
    if (isUnsatisfiable !== (ours.kind === 'not satisfiable')) return 'differ: in the kind of failure'
    if (!isUnsatisfiable)
      return ours.message === error ? 'agree: same error' : 'agree: an error in other words'
    return ours.message === error ? 'agree: same constraints' : 'agree: not satisfiable, other constraints'
  }
  if (ours.kind !== 'resolved') return 'differ: we fail, they do not'
  // Without a channel OLM takes any entry of a bundle that is in several: which one changes from run to run.
  const anyChannel = problem.subscriptions.some(({ channel }) => channel === '')
  const shownSet = (set ?? []).map(({ name, channel, catalog, replaces }) =>
    [catalog, name, ...(anyChannel ? [] : [replaces, channel])].join(' '),
  )
  const ourSet = ours.bundles.map(({ entry, replaces }) =>
    [
      entry.catalog,
      entry.name,
      ...(anyChannel ? [] : [replaces === '' ? entry.replaces : replaces, entry.channel]),
    ].join(' '),
  )
  if (shownSet.toSorted().join('\n') !== ourSet.toSorted().join('\n')) {
    const names = ours.bundles.map(({ entry }) => `${entry.catalog} ${entry.name}`)
    const theirNames = (set ?? []).map(({ catalog, name }) => `${catalog} ${name}`)
    // A choice that OLM's search has gone back over keeps its place at the end: no candidate is preferred any more.
    return names.toSorted().join() === theirNames.toSorted().join()
      ? 'explained: the same bundles, of a channel that OLM forgot to prefer'
      : 'differ: in the set'
  }
  return shownSet.length === 0
    ? 'agree: nothing new'
    : `agree: the same set of ${Math.min(shownSet.length, 4)}`
}

function briefly(resolution: Resolution) {
  if (resolution.kind !== 'resolved') return resolution
  return resolution.bundles.map(
    ({ entry, replaces }) => `${entry.catalog}/${entry.channel}/${entry.name} ${replaces}`,
  )
}

function ask({ catalogs, installed, subscriptions }: RandomProblem): Promise<OlmAnswer> {
  const asked = {
    Catalogs: catalogs.map(({ name, priority, blobs }) => ({ Name: name, Priority: priority, Blobs: blobs })),
    Installed: installed.map((one) => ({
      Name: one.name,
      Version: one.version,
      Package: one.package,
      Properties: one.properties,
      Subscription: one.subscription,
    })),
    Subscriptions: subscriptions.map((one) => ({
      Name: one.name,
      Package: one.package,
      Channel: one.channel,
      Catalog: one.catalog,
      StartingCSV: one.startingCsv,
      InstalledCSV: one.installedCsv,
    })),
  }
  return new Promise((resolve) => {
    waiting.push(resolve)
    olm.stdin.write(`${JSON.stringify(asked)}\n`)
  })
}

function build(program: string): string {
  const go = goCommand()
  if (go === undefined) throw new Error('there is no go here; name a built program with --program')
  const tags = ['-p', '1', '-tags', 'json1,containers_image_openpgp', '-gcflags=all=-dwarf=false']
  const { status, stderr } = spawnSync(go, ['build', ...tags, '-o', program, '.'], {
    cwd: fileURLToPath(new URL('../../olm-resolver/', import.meta.url)),
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '' },
  })
  if (status !== 0) throw new Error(`OLM's resolver could not be built: ${stderr}`)
  return program
}
