// Reports in one line at the end of a run which tests were skipped, and why. In CI (`CI=true`) the run fails if a test was
// skipped for a reason that LEFT_OUT_EXPECTED does not list (comma-separated).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const noReason = 'no reason given'

export default class LeftOutReporter {
  #folder = mkdtempSync(join(tmpdir(), 'left-out-'))
  #isFiltered
  #problem

  constructor({ testNamePattern }) {
    this.#isFiltered = Boolean(testNamePattern)
    // Set before any worker starts, because workers inherit it.
    process.env.LEFT_OUT_LOG = join(this.#folder, 'log')
  }

  onRunComplete(_contexts, { testResults }) {
    const skipped = this.#isFiltered
      ? []
      : testResults.map(({ testFilePath, numPendingTests, numTodoTests }) => [
          testFilePath,
          numPendingTests + numTodoTests,
        ])
    const counts = countSkippedTests(readLog(process.env.LEFT_OUT_LOG), skipped)
    rmSync(this.#folder, { recursive: true, force: true })
    process.stderr.write(`${formatSkippedTests(counts)}\n`)
    if (process.env.CI !== 'true') return
    const expected = new Set((process.env.LEFT_OUT_EXPECTED ?? '').split(',').map((name) => name.trim()))
    const unexpected = [...counts.keys()].filter((absent) => !expected.has(absent))
    if (unexpected.length === 0) return
    this.#problem =
      `CI does not expect to leave anything out for want of: ${unexpected.join(', ')}. ` +
      'Install it in .ci/run, or name it in LEFT_OUT_EXPECTED.'
    process.stderr.write(`${this.#problem}\n`)
  }

  /** Makes the run fail; jest does not print it. */
  getLastError() {
    return this.#problem && new Error(this.#problem)
  }
}

function readLog(path) {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/**
 * The number of skipped tests by what was missing. A file reports the reason for its skipped tests once. Tests that were
 * skipped without a reason count, too.
 */
export function countSkippedTests(reported, skipped) {
  const counts = new Map()
  const add = (absent, count) => count > 0 && counts.set(absent, (counts.get(absent) ?? 0) + count)
  for (const { absent } of reported) add(absent, 1)
  for (const [file, count] of skipped) {
    const reasons = reported.filter((one) => one.file === file).map(({ absent }) => absent)
    add(reasons[0] ?? noReason, count - reasons.length)
  }
  return counts
}

export function formatSkippedTests(counts) {
  if (counts.size === 0) return 'Left out:    nothing'
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...counts].map(
    ([absent, count]) => `${absent === noReason ? absent : `without ${absent}`}: ${count}`,
  )
  return `Left out:    ${total} ${total === 1 ? 'test' : 'tests'} (${reasons.join('; ')})`
}
