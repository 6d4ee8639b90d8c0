// The notes of a release are the section of its version in the changelog.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { extractReleaseNotes } from '../../scripts/release-notes.ts'

const changelog = `# Changelog

## [Unreleased]

## [1.1.0] - 2026-02-01

### Added

- An entry that continues
  on a second line:
  - A nested entry.

## [1.0.0] - 2026-01-01

### Fixed

- The oldest entry.
`

test('the notes are the entries of that version alone, each on one line', () => {
  expect(extractReleaseNotes(changelog, '1.1.0')).toBe(
    '### Added\n\n- An entry that continues on a second line:\n  - A nested entry.',
  )
  expect(extractReleaseNotes(changelog, '1.0.0')).toBe('### Fixed\n\n- The oldest entry.')
})

test.each(['1.2.0', '1.1', '1.1.0-rc.1', 'Unreleased', ''])('version "%s" has no notes', (version) => {
  expect(() => extractReleaseNotes(changelog, version)).toThrow(`no entries under "## [${version}] - DATE"`)
})

test('a section without entries is an error', () => {
  expect(() => extractReleaseNotes('## [1.0.0] - 2026-01-01\n\n## [0.9.0] - 2025-01-01\n', '1.0.0')).toThrow(
    'no entries',
  )
})

test('the changelog follows Keep a Changelog and has notes for the version of package.json', () => {
  const projectRoot = join(import.meta.dirname, '../..')
  const ownChangelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8')
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string
  }
  expect(extractReleaseNotes(ownChangelog, version)).toMatch(/^### /m)
  const [unreleased, ...released] = [...ownChangelog.matchAll(/^## (?<title>.*)$/gm)].map(
    (match) => match.groups?.['title'],
  )
  expect(unreleased).toBe('[Unreleased]')
  expect(
    released.filter((title) => !/^\[\d+\.\d+\.\d+(?:-[\w.]+)?\] - \d{4}-\d\d-\d\d$/.test(title ?? '')),
  ).toEqual([])
  const kinds = [...ownChangelog.matchAll(/^### (?<kind>.*)$/gm)].map((match) => match.groups?.['kind'])
  const allowed = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
  expect(kinds.filter((kind) => !allowed.includes(kind ?? ''))).toEqual([])
})
