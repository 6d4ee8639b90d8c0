// Compares catalog-bot's verdict and message with those of a real opm, on the given directories and on random changes
// of their files.
//   node scripts/compare-opm.ts OPM DIR... [--mutations N] [--seed S]
// Prints the differences, and exits with 1 if there are any. Prints the seed, so that a run can be repeated.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile, createUnreadableCatalogFile } from '../packages/fbc/src/load/parse-catalog-file.ts'
import { validateCatalog } from '../packages/fbc/src/model/validate-catalog.ts'
import { findOpmRuleSet } from '../packages/fbc/src/model/rule-set.ts'
import { listCatalogDirectoryFiles } from '../src/catalogs/catalog-directory.ts'

interface ValidationVerdict {
  readonly passed: boolean
  readonly message: string
  /** All messages that opm could have printed. opm reads files in parallel. */
  readonly alternatives: readonly string[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mutations: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' } },
})
const [opm = 'opm', ...dirs] = positionals
const nextRandomNumber = createRandomGenerator(Number(values.seed))
let differenceCount = 0
let comparisonCount = 0

console.log(`seed ${values.seed}`)
for (const dir of dirs) {
  compareVerdicts(dir, dir)
  for (let count = 0; count < Number(values.mutations); count++) compareVerdictsOnMutatedCatalog(dir)
}
console.log(`${comparisonCount} compared, ${differenceCount} differ`)
process.exitCode = differenceCount === 0 ? 0 : 1

function compareVerdicts(dir: string, label: string): void {
  const theirs = runOpmValidate(dir)
  const ours = runCatalogBotValidate(dir)
  comparisonCount++
  const sameText =
    sortErrorLines(theirs.message) === sortErrorLines(ours.message) ||
    ours.alternatives.includes(theirs.message)
  if (theirs.passed === ours.passed && sameText) return
  differenceCount++
  console.log(
    `${theirs.passed === ours.passed ? 'text' : 'VERDICT'} ${label}\n  opm:  ${theirs.message}\n  ours: ${ours.message}`,
  )
}

function runOpmValidate(dir: string): ValidationVerdict {
  let out: string
  try {
    out = execFileSync(opm, ['validate', dir, '-o', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 })
  } catch (error) {
    out = (error as { stdout: string }).stdout
  }
  const { passed, error } = JSON.parse(out) as { passed: boolean; error?: { message: string } }
  return { passed, message: error?.message ?? '', alternatives: [] }
}

function runCatalogBotValidate(dir: string): ValidationVerdict {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') return { passed: false, message: directory.message, alternatives: [] }
  const catalog = assembleCatalog(
    directory.files.map((file) => {
      const content = file.read()
      return {
        path: file.path,
        facts: 'error' in content ? createUnreadableCatalogFile(content.error) : parseCatalogFile(content),
      }
    }),
  )
  const ruleSet = findOpmRuleSet('1.73.0')
  const { passed, message = '' } = validateCatalog(catalog, { profile: 'opm', ...(ruleSet && { ruleSet }) })
  return { passed, message, alternatives: catalog.loadErrors.map((error) => error.message) }
}

/** Sorts the lines for comparison, because siblings of an error tree have no fixed order. */
function sortErrorLines(message: string): string {
  if (!message.startsWith('invalid index')) return message
  return message
    .split('\n')
    .map((line) => line.replace(/^[│├└─ ]+/u, '').replace(/:$/, ''))
    .sort()
    .join('\n')
}

function compareVerdictsOnMutatedCatalog(dir: string): void {
  const copy = mkdtempSync(join(tmpdir(), 'compare-opm-'))
  try {
    cpSync(dir, copy, { recursive: true })
    const directory = listCatalogDirectoryFiles(copy)
    if (directory.kind !== 'files' || directory.files.length === 0) return
    const { path } = pickRandomItem(directory.files)
    const mutated = mutateBytes(readFileSync(join(copy, path)))
    writeFileSync(join(copy, path), mutated.bytes)
    compareVerdicts(copy, `${dir}: ${path}: ${mutated.what}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** One small change: a piece is removed, duplicated, or inserted. */
function mutateBytes(bytes: Buffer): { bytes: Buffer; what: string } {
  const at = randomIntegerBelow(bytes.length + 1)
  const length = 1 + randomIntegerBelow(20)
  const piece = pickRandomItem([
    Buffer.alloc(0),
    bytes.subarray(at, at + length),
    ...[
      '\n',
      '---\n',
      '  ',
      '\t',
      '"',
      "'",
      ': ',
      '- ',
      '{',
      ']',
      '#',
      '&a ',
      '*a',
      '|\n',
      '\ufeff',
      '\r',
      ',',
      'null',
      '1e3',
      '<<: ',
    ].map((text) => Buffer.from(text)),
  ])
  const from = piece.length === 0 ? at + length : at
  const what = `at ${at}: ${JSON.stringify(piece.toString())} for ${from - at} bytes`
  return { bytes: Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(from)]), what }
}

function pickRandomItem<Item>(items: readonly Item[]): Item {
  return items[randomIntegerBelow(items.length)] as Item
}

function randomIntegerBelow(bound: number): number {
  return Math.floor(nextRandomNumber() * bound)
}

/** Numbers in [0, 1) from a seed (mulberry32). */
function createRandomGenerator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
