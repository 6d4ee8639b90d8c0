// Breaks a copy of the project on purpose, one bug of test/mutants.yaml at a time, and runs the test that must fail.
//   npm run mutants -- [ID...]                          exit 1 when a mutant survives or doesn't fit
//   npm run mutants -- --with-simulator [--worlds N] [ID...]   reports in which simulated run the bug shows
//   npm run mutants -- --refresh                        rewrites the data after code was renamed or moved
import { spawnSync } from 'node:child_process'
import { linkPackages } from '../test/link-packages.ts'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseDocument, type YAMLSeq } from 'yaml'
import { findCodeFragments, applyRenames, tokenizeCode } from './code-fragments.ts'
import { listFiles } from './workspaces.ts'

export interface MutantEdit {
  /** Where the code was last seen; it is searched for in all sources when it isn't there. */
  readonly file: string
  /** The code with its context; ⟦…⟧ marks what is replaced. */
  readonly code: string
  readonly becomes: string
}

export interface Mutant {
  readonly id: number
  readonly bug: string
  /** Absent: the project has no code in which the bug could be made; `bug` then says why. */
  readonly edits?: readonly MutantEdit[]
  /** Test file, and optionally a pattern of test names, as jest's -t takes it. */
  readonly test?: readonly [file: string, names?: string]
}

/** An edit's location in the sources as they are now. */
export interface LocatedEdit {
  readonly file: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** The edit as it would be written today. */
  readonly current: MutantEdit
}

const mutantsFile = 'test/mutants.yaml'

export function readMutants(root: string): readonly Mutant[] {
  return parseDocument(readFileSync(join(root, mutantsFile), 'utf8')).toJS() as readonly Mutant[]
}

/** Reads each source once. */
export function createSourceReader(root: string) {
  const read = new Map<string, { readonly text: string; readonly tokens: ReturnType<typeof tokenizeCode> }>()
  const files = ['src', 'packages', 'sandbox', 'simulate', 'scripts'].flatMap((folder) =>
    listFiles(root, folder, /\.ts$/),
  )
  return {
    files,
    read(file: string) {
      const known = read.get(file)
      if (known !== undefined) return known
      const text = readFileSync(join(root, file), 'utf8')
      const source = { text, tokens: tokenizeCode(text) }
      read.set(file, source)
      return source
    },
  }
}

/** Finds the code of an edit, or explains why it can't: not there, or there more than once. */
export function locateEdit(
  sources: ReturnType<typeof createSourceReader>,
  edit: MutantEdit,
): LocatedEdit | string {
  const [before = '', marked = '', after = ''] = edit.code.split(/[⟦⟧]/)
  const fragment = tokenizeCode(before + marked + after)
  const search = (files: readonly string[]) =>
    files.flatMap((file) =>
      findCodeFragments(fragment, sources.read(file).tokens).map((match) => ({ file, match })),
    )
  let found = sources.files.includes(edit.file) ? search([edit.file]) : []
  if (found.length === 0) found = search(sources.files)
  const maxSame = Math.max(...found.map(({ match }) => match.same))
  const best = found.filter(({ match }) => match.same === maxSame)
  const [only] = best
  if (only === undefined || best.length > 1) return `found ${best.length} times`
  const { file, match } = only
  const { text } = sources.read(file)
  const first = match.tokens[fragment.findIndex(({ start }) => start >= before.length)]
  const last = match.tokens[fragment.findLastIndex(({ end }) => end <= before.length + marked.length)]
  if (first === undefined || last === undefined) return 'no code is marked'
  const replacement = applyRenames(edit.becomes, match.names)
  const code = `${text.slice(match.start, first.start)}⟦${text.slice(first.start, last.end)}⟧${text.slice(last.end, match.end)}`
  return {
    file,
    start: first.start,
    end: last.end,
    replacement,
    current: { file, code, becomes: replacement },
  }
}

/** Applies a mutant in `root`. Returns how to undo it, or why it doesn't fit. */
function applyMutant(root: string, { edits = [] }: Mutant): (() => void) | string {
  const original = new Map<string, string>()
  const undo = () => {
    for (const [file, text] of original) writeFileSync(join(root, file), text)
  }
  for (const edit of edits) {
    const located = locateEdit(createSourceReader(root), edit)
    if (typeof located === 'string') {
      undo()
      return located
    }
    const { file, start, end, replacement } = located
    const text = readFileSync(join(root, file), 'utf8')
    if (!original.has(file)) original.set(file, text)
    writeFileSync(join(root, file), text.slice(0, start) + replacement + text.slice(end))
  }
  return undo
}

/** A test file that was moved is found by its name. */
export function locateTestFile(root: string, file: string): string | undefined {
  const all = listFiles(root, 'test', /\.ts$/)
  if (all.includes(file)) return file
  const moved = all.filter((other) => basename(other) === basename(file))
  return moved.length === 1 ? moved[0] : undefined
}

function copyProject(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-mutants-'))
  for (const entry of readdirSync(root))
    if (!['node_modules', '.git', 'site', 'dist'].includes(entry))
      cpSync(join(root, entry), join(folder, entry), { recursive: true })
  linkPackages(root, folder)
  return folder
}

type MutantTestResult = 'passed' | 'failed' | 'no test ran'

function runMutantTest(folder: string, [file, names]: NonNullable<Mutant['test']>): MutantTestResult {
  // A failing test may leave a process behind, which jest would wait for.
  const jest = ['--no-warnings', 'node_modules/jest/bin/jest.js', '--forceExit', '--json']
  const args = [...jest, locateTestFile(folder, file) ?? file, ...(names === undefined ? [] : ['-t', names])]
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 10 * 60_000,
    maxBuffer: 1 << 28,
  })
  const { numPassedTests = 0, success = false } =
    stdout === '' ? {} : (JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, never>)
  if (!success) return 'failed'
  return numPassedTests === 0 ? 'no test ran' : 'passed'
}

function testMutants(folder: string, mutants: readonly Mutant[]): void {
  // A test that fails without a mutant proves nothing.
  for (const test of new Map(
    mutants.flatMap(({ test }) => (test ? [[test.join(' '), test] as const] : [])),
  ).values()) {
    const result = runMutantTest(folder, test)
    if (result !== 'passed') reportMutantResult(`${test.join(' ')}: ${result} (without a mutant)`, false)
  }
  for (const mutant of mutants) {
    if (mutant.edits === undefined || mutant.test === undefined) continue
    const undo = applyMutant(folder, mutant)
    if (typeof undo === 'string') {
      reportMutantResult(`${mutant.id}  does not fit (${undo})  ${mutant.bug}`, false)
      continue
    }
    const result = runMutantTest(folder, mutant.test)
    undo()
    reportMutantResult(
      `${mutant.id}  ${result === 'failed' ? 'killed' : 'survived'}  ${mutant.bug}`,
      result === 'failed',
    )
  }
}

function reportMutantResult(line: string, isGood: boolean): void {
  process.stdout.write(`${line}\n`)
  if (!isGood) process.exitCode = 1
}

/** The files that simulated runs execute: the simulator's imports, transitively. */
export function listSimulatorFiles(root: string): ReadonlySet<string> {
  const found = new Set<string>()
  const pending = ['simulate/simulate.ts']
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const text = readFileSync(join(root, file), 'utf8').replace(/^import type [^;]*? from '[^']+'$/gm, '')
    for (const [, to = ''] of text.matchAll(/(?:from |import\(|new URL\()'(\.{1,2}\/[^']+\.ts)'/g))
      pending.push(join(dirname(file), to))
  }
  return found
}

/** The first simulated run, counted from seed `from`, that violates an invariant. */
function runSimulator(folder: string, from: number, runs: number): { run: number; what: string } | undefined {
  const args = ['simulate/simulate.ts', '--seed', String(from), '--runs', String(runs), '--first']
  const { stdout, status } = spawnSync(process.execPath, ['--no-warnings', ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === 0) return undefined
  const violated = new Set([...stdout.matchAll(/VIOLATION (\w+)/g)].map(([, invariant]) => invariant))
  const count = Number(/^(\d+) runs/m.exec(stdout)?.[1] ?? 1)
  return { run: from + count - 1, what: [...violated].join(', ') || 'the process ended' }
}

/** Informational: many bugs can't show in simulated runs, which have no network and an in-memory Git. */
function simulateMutants(folder: string, mutants: readonly Mutant[], runs: number): void {
  const inside = listSimulatorFiles(folder)
  for (const mutant of mutants) {
    if (!mutant.edits?.some(({ file }) => inside.has(file))) continue
    const undo = applyMutant(folder, mutant)
    if (typeof undo === 'string') continue
    const violation = runSimulator(folder, 1, runs)
    undo()
    const result = violation === undefined ? `not in ${runs}` : `run ${violation.run}: ${violation.what}`
    reportMutantResult(`${mutant.id}  ${result}  ${mutant.bug}`, true)
  }
}

/** Rewrites the data with the code as it is now, so that later searches start from the right file and names. */
function refreshMutantsFile(root: string): void {
  const sources = createSourceReader(root)
  const document = parseDocument(readFileSync(join(root, mutantsFile), 'utf8'))
  for (const [index, { id, edits = [] }] of readMutants(root).entries())
    for (const [at, edit] of edits.entries()) {
      const located = locateEdit(sources, edit)
      if (typeof located === 'string') reportMutantResult(`${id}  does not fit (${located})`, false)
      else
        for (const key of ['file', 'code', 'becomes'] as const)
          document.setIn([index, 'edits', at, key], located.current[key])
    }
  for (const [index, { test }] of readMutants(root).entries())
    if (test !== undefined)
      (document.getIn([index, 'test']) as YAMLSeq).set(0, locateTestFile(root, test[0]) ?? test[0])
  writeFileSync(join(root, mutantsFile), document.toString({ lineWidth: 0, flowCollectionPadding: false }))
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: {
      'with-simulator': { type: 'boolean', default: false },
      worlds: { type: 'string', default: '300' },
      refresh: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const root = join(import.meta.dirname, '..')
  if (values.refresh) refreshMutantsFile(root)
  else {
    const mutants = readMutants(root).filter(
      ({ id }) => positionals.length === 0 || positionals.includes(String(id)),
    )
    const folder = copyProject(root)
    try {
      if (values['with-simulator']) simulateMutants(folder, mutants, Number(values.worlds))
      else testMutants(folder, mutants)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
