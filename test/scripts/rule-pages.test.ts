import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { FindingRuleWithoutFormatter } from '../../packages/findings/src/rule.ts'
import {
  rulesWithPages,
  renderHarmTable,
  renderRuleIndex,
  renderRulePages,
  updateRulePage,
  findOrphanedRulePages,
} from '../../scripts/rule-pages.ts'

const projectRoot = join(import.meta.dirname, '../..')
const sampleRule: FindingRuleWithoutFormatter = {
  id: 'two-heads',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  title: 'A channel has one head',
  since: '0.1.0',
}

// The example is really evaluated, so it belongs to an existing rule.
const ruleFixturesDirectory = join(projectRoot, 'fixtures/rules')
const severalHeadsRule: FindingRuleWithoutFormatter = { ...sampleRule, id: 'several-heads' }
const createExampleMarkers = (path: string) => `<!-- example ${path} -->\nold\n<!-- /example -->\n`

describe('pages of rules', () => {
  test('every page is as the script generates it, and none describes a rule that does not exist', async () => {
    for (const [path, text] of await renderRulePages(projectRoot))
      expect({ path, text: readFileSync(join(projectRoot, path), 'utf8') }).toEqual({ path, text })
    expect(findOrphanedRulePages(projectRoot)).toEqual([])
  })

  test('no two rules share an id and so a page', () => {
    const ids = rulesWithPages.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('updates the box and the example, and keeps the text that people wrote', async () => {
    const page = `# several-heads\n\nold\n\n| network |\n| --- |\n| yes |\n\n## What\n\nBy people.\n\n${createExampleMarkers('bad/fork')}`
    const renewed = await updateRulePage(page, severalHeadsRule, ruleFixturesDirectory)
    expect(renewed).toContain('# several-heads\n\nA channel has one head.\n\n| check ')
    expect(renewed).toContain('| validation | error    | 0.1.0 | no      |\n\n## What\n')
    expect(renewed).toContain('\n\nBy people.\n\n')
    // The document with the mark, the message of the finding, and the message of opm.
    expect(renewed).toContain('```yaml\nschema: olm.channel # several-heads\n')
    expect(renewed).toContain(
      '```text\nchannel "stable" of package "foo" has 2 heads: "foo.v1.1.0", "foo.v1.2.0"\n',
    )
    expect(renewed).toContain('multiple channel heads found in graph: foo.v1.1.0, foo.v1.2.0\n```')
    expect(renewed).not.toContain('schema: olm.bundle')
    expect(renewed).not.toContain('old')
    expect(await updateRulePage(renewed, severalHeadsRule, ruleFixturesDirectory)).toBe(renewed)
  })

  test('shows a pull request as a diff', async () => {
    const page = `# not-owner\n\n## What\n\n${createExampleMarkers('bad/a-stranger')}`
    const renewed = await updateRulePage(page, { ...sampleRule, id: 'not-owner' }, ruleFixturesDirectory)
    expect(renewed).toContain('```diff\n--- a/catalog/foo/catalog.yaml\n')
    expect(renewed).toContain('and mallory is not one of its owners')
  })

  test('shows what a pull request has besides its tree next to the diff', async () => {
    const shownFor = (id: string, path: string) =>
      updateRulePage(
        `# ${id}\n\n## What\n\n${createExampleMarkers(path)}`,
        { ...sampleRule, id },
        ruleFixturesDirectory,
      )
    const closing = await shownFor('closes-other-pull', 'bad/a-draft')
    expect(closing).toContain('"Describe bar" (the head of pull request 8)\n')
    expect(closing).toContain('Pull request 8 of bob is open, a draft.\n')
    expect(await shownFor('unsigned-commit', 'bad/an-older-one')).toContain('(not signed)\nThe base branch')
    const approved = await shownFor('approved-something-else', 'bad/an-ancestor-landed')
    const [then = '', now = ''] = approved.split('Now it does this:')
    const added = '+  - name: foo.v1.1.0'
    expect([then.includes(added), now.includes(added)]).toEqual([false, true])
  })

  test('rejects a page without a body, with another title, or with an example that is not a fixture', async () => {
    const body = '\n## What\n'
    await expect(updateRulePage('# two-heads\n', sampleRule, ruleFixturesDirectory)).rejects.toThrow(
      /no "## What"/,
    )
    await expect(updateRulePage(`# other\n${body}`, sampleRule, ruleFixturesDirectory)).rejects.toThrow(
      /does not start with/,
    )
    for (const path of ['bad/x', 'bad/fork/no-such-file.yaml'])
      await expect(
        updateRulePage(
          `# several-heads\n${body}${createExampleMarkers(path)}`,
          severalHeadsRule,
          ruleFixturesDirectory,
        ),
      ).rejects.toThrow(/does not exist/)
  })

  test("the index separates opm's rules from ours", () => {
    const index = renderRuleIndex([sampleRule, { ...sampleRule, id: 'no-head', fixed: true }])
    expect(index.indexOf('[two-heads](two-heads.md)')).toBeLessThan(
      index.indexOf('## Validation: rejected by opm'),
    )
    expect(index.indexOf('[no-head](no-head.md)')).toBeGreaterThan(
      index.indexOf('## Validation: rejected by opm'),
    )
  })

  test('every error that is not from opm declares who is affected, and no other rule does', () => {
    const error = { ...sampleRule, severity: 'error' as const }
    expect(renderHarmTable([error], { [sampleRule.id]: 'Users: it fails.' })).toContain('| Users: it fails.')
    expect(() => renderHarmTable([error], {})).toThrow(/rule-harm\.ts does not contain/)
    expect(() => renderHarmTable([{ ...sampleRule, severity: 'warning' }], { [sampleRule.id]: 'x' })).toThrow(
      /is not an error/,
    )
    expect(renderHarmTable([{ ...error, fixed: true }], {})).not.toContain(sampleRule.id)
  })
})
