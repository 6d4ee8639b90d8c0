import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { AnyRule } from '../../src/findings/rule.ts'
import { pageRules, renderIndex, renderPages, renewPage, strayPages } from '../../scripts/rule-pages.ts'

const project = join(import.meta.dirname, '../..')
const rule: AnyRule = {
  id: 'two-heads',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  title: 'A channel has one head',
  since: '0.1.0',
}

let fixtures: string
beforeAll(() => {
  fixtures = mkdtempSync(join(tmpdir(), 'rule-pages-'))
  const file = join(fixtures, 'two-heads/bad/forked/catalog.yaml')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'a: 1\n---\nb: $& 2 # two-heads\n---\nc: 3\n')
})
afterAll(() => {
  rmSync(fixtures, { recursive: true })
})

describe('pages of rules', () => {
  test('every page is as the script makes it, and none speaks of a rule that does not exist', () => {
    for (const [path, text] of renderPages(project)) {
      expect([path, existsSync(join(project, path))]).toEqual([path, true])
      expect(readFileSync(join(project, path), 'utf8')).toBe(text)
    }
    expect(strayPages(project)).toEqual([])
  })

  test('no two rules share an id, or their pages would be one', () => {
    const ids = pageRules.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('box and example are renewed, and what people wrote stays', () => {
    const page = `# two-heads\n\nold\n\n| network |\n| --- |\n| yes |\n\n## What\n\nBy hand.\n\n<!-- example bad/forked/catalog.yaml -->\nold\n<!-- /example -->\n`
    const renewed = renewPage(page, rule, fixtures)
    expect(renewed).toContain('# two-heads\n\nA channel has one head.\n\n| check ')
    expect(renewed).toContain('| validation | error    | 0.1.0 | yes     |\n\n## What\n')
    expect(renewed).toContain('\n\nBy hand.\n\n')
    expect(renewed).toContain('```yaml\nb: $& 2 # two-heads\n```')
    expect(renewed).not.toContain('old')
    expect(renewPage(renewed, rule, fixtures)).toBe(renewed)
  })

  test('a page without a body, with another title, or with an example that is no fixture is refused', () => {
    const body = '\n## What\n'
    expect(() => renewPage('# two-heads\n', rule, fixtures)).toThrow(/no "## What"/)
    expect(() => renewPage(`# other\n${body}`, rule, fixtures)).toThrow(/does not begin/)
    expect(() =>
      renewPage(`# two-heads\n${body}<!-- example bad/x/catalog.yaml -->\n<!-- /example -->`, rule, fixtures),
    ).toThrow(/does not exist/)
  })

  test("the index tells opm's rules from ours", () => {
    const index = renderIndex([rule, { ...rule, id: 'no-head', fixed: true }])
    expect(index.indexOf('[two-heads](two-heads.md)')).toBeLessThan(index.indexOf('## Validation: what opm'))
    expect(index.indexOf('[no-head](no-head.md)')).toBeGreaterThan(index.indexOf('## Validation: what opm'))
  })
})
