// The fixture folders of rules: fixtures/rules/<id>/{good,bad}/<why>/ is a whole catalog. A line of a file that ends in
// `# <id>` must have a finding of that rule; in a bad case's .indexignore such a line stands for the whole catalog.
// `_limits.json`, ignored by the catalog, lowers ceilings that no fixture should reach in earnest.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defaultLimits } from '../../../src/checks/validation/limits.ts'
import type { Limits } from '../../../src/checks/validation/limits.ts'

export const fixturesRoot = join(import.meta.dirname, '../../../fixtures/rules')

export interface FixtureCase {
  readonly id: string
  readonly kind: 'good' | 'bad'
  /** The folder's name: why it is good or bad. */
  readonly why: string
  readonly directory: string
  readonly limits: Limits
  /** Expected findings as `file:line rule`, or `rule` for the whole catalog; sorted. */
  readonly expected: readonly string[]
}

/** Every case below a folder of fixtures, by rule. */
export function readCases(root = fixturesRoot): FixtureCase[] {
  return foldersOf(root).flatMap((id) =>
    (['good', 'bad'] as const).flatMap((kind) =>
      foldersOf(join(root, id, kind)).map((why) => readCase(root, id, kind, why)),
    ),
  )
}

function readCase(root: string, id: string, kind: 'good' | 'bad', why: string): FixtureCase {
  const directory = join(root, id, kind, why)
  const limits = join(directory, '_limits.json')
  return {
    id,
    kind,
    why,
    directory,
    limits: existsSync(limits)
      ? { ...defaultLimits, ...(JSON.parse(readFileSync(limits, 'utf8')) as Partial<Limits>) }
      : defaultLimits,
    expected: readdirSync(directory)
      .flatMap((file) => markersOf(file, readFileSync(join(directory, file), 'utf8')))
      .sort(),
  }
}

function markersOf(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const id = /# (?<id>[a-z][a-z0-9-]*)$/.exec(line)?.groups?.id
    if (id === undefined || !existsSync(join(fixturesRoot, id))) return []
    return [file === '.indexignore' ? id : `${file}:${index + 1} ${id}`]
  })
}

function foldersOf(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}
