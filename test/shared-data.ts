// Finds the data next to the project for tests that use it. It is never part of the project: every such test must also
// pass without it, and count what it skipped.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { reportSkippedTest } from './left-out.ts'

const sharedDirectory = join(import.meta.dirname, '..', '..', 'shared')

/** A path below `../shared`, or undefined if it doesn't exist. A missing path is counted as skipped. */
export function findSharedPath(...parts: string[]): string | undefined {
  const path = join(sharedDirectory, ...parts)
  if (existsSync(path)) return path
  reportSkippedTest('../shared')
  return undefined
}

/** The settings in the reference table of how GitHub's branch rules affect merges. */
export function readBranchRuleSettings(): readonly (string | undefined)[] | undefined {
  const page = findSharedPath('reference', 'github-landing.md')
  if (page === undefined) return undefined
  const text = readFileSync(page, 'utf8')
  return text
    .slice(text.indexOf('## 3.'), text.indexOf('## 4.'))
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|-'))
    .slice(1)
    .map((line) => line.split('|')[1]?.trim())
}
