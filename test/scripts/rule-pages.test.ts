import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { AnyFindingRule } from '../../packages/findings/src/rule.ts'
import {
  rulesWithPages,
  renderRulePages,
  updateRuleIndex,
  updateRulePage,
  findOrphanedRulePages,
} from '../../scripts/rule-pages.ts'

const projectRoot = join(import.meta.dirname, '../..')
const sampleRule: AnyFindingRule = {
  id: 'two-heads',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  title: 'A channel has one head',
  since: '0.1.0',
}

// The example is really evaluated, so it belongs to an existing rule.
const ruleFixturesDirectory = join(projectRoot, 'fixtures/rules')
const severalHeadsRule: AnyFindingRule = { ...sampleRule, id: 'several-heads' }
const createOutdatedRulePage = (id: string, path: string) =>
  `# ${id}\n\nold\n_old_\n\nBy people.\n\nIn [this example](../../fixtures/rules/${id}/${path}), old\n\nold\n`

describe('pages of rules', () => {
  const renderedPages = renderRulePages(projectRoot)

  test('every page is as the script generates it, and none describes a rule that does not exist', async () => {
    for (const [path, text] of await renderedPages)
      expect({ path, text: readFileSync(join(projectRoot, path), 'utf8') }).toEqual({ path, text })
    expect(findOrphanedRulePages(projectRoot)).toEqual([])
  })

  test('no two rules share an id and therefore a page', () => {
    const ids = rulesWithPages.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('have at most 25 lines on average, and examples of at most 15 lines', async () => {
    const pages = [...(await renderedPages).values()]
    const count = (text: string) => text.split('\n').length - 1
    expect(pages.reduce((sum, text) => sum + count(text), 0) / pages.length).toBeLessThan(25)
    const examples = pages.flatMap((text) => [...text.matchAll(/^```\w+\n(?<code>[\s\S]*?)^```/gm)])
    expect(Math.max(...examples.map(({ groups }) => count(groups?.['code'] ?? '')))).toBeLessThanOrEqual(15)
  })

  test('are generated, except for the description that people wrote', async () => {
    const page = createOutdatedRulePage('several-heads', 'bad/fork')
    const renewed = await updateRulePage(page, severalHeadsRule, ruleFixturesDirectory)
    expect(renewed).toMatch(
      /^# several-heads\n\nA channel has one head\.\n_Check: validation; .*_\n\nBy people\.\n\n/,
    )
    // The message of the finding, and the document with the mark.
    expect(renewed).toContain(
      '- **What:** channel "stable" of package "foo" has 2 heads: "foo.v1.1.0", "foo.v1.2.0"\n',
    )
    expect(renewed).toContain('```yaml\nschema: olm.channel # several-heads\n')
    expect(renewed).not.toMatch(/schema: olm\.bundle|old|opm reports/)
    expect(await updateRulePage(renewed, severalHeadsRule, ruleFixturesDirectory)).toBe(renewed)
  })

  const renderFullPage = (id: string, path: string) =>
    updateRulePage(createOutdatedRulePage(id, path), { ...sampleRule, id }, ruleFixturesDirectory, {
      isFull: true,
    })

  test('have all examples and the message of opm if they are full', async () => {
    expect(await renderFullPage('several-heads', 'bad/fork')).toContain(
      'multiple channel heads found in graph: foo.v1.1.0, foo.v1.2.0\n```',
    )
    const closing = await renderFullPage('closes-other-pull', 'bad/a-draft')
    expect(closing).toContain('"Describe bar" (the head of pull request 8)\n')
    expect(closing).toContain('Pull request 8 of bob is open, a draft.\n')
    expect(closing).toContain('## Example: dropped content\n')
  })

  test('show a pull request as a diff, both now and at its approval', async () => {
    const page = createOutdatedRulePage('not-owner', 'bad/an-outsider')
    const renewed = await updateRulePage(page, { ...sampleRule, id: 'not-owner' }, ruleFixturesDirectory)
    expect(renewed).toContain('```diff\n+++ b/catalog/foo/catalog.yaml\n')
    const approved = await renderFullPage('approved-something-else', 'bad/an-ancestor-landed')
    const [then = '', now = ''] = approved.split('Now it does this:')
    const added = '+  - name: foo.v1.1.0'
    expect([then.includes(added), now.includes(added)]).toEqual([false, true])
  })

  test.each([false, true])('contain a backslash of a message (full page: %s)', async (isFull) => {
    const id = 'refused-by-olm-v1'
    const page = createOutdatedRulePage(id, 'bad/webhook-name-with-capitals')
    const renewed = await updateRulePage(page, { ...sampleRule, id }, ruleFixturesDirectory, { isFull })
    expect(renewed).toContain(String.raw`(\\.[a-z0-9]`)
  })

  test.each([
    ['# two-heads\n', /needs "# several-heads", a description, and an example/],
    [createOutdatedRulePage('other', 'bad/fork'), /needs "# several-heads"/],
    [createOutdatedRulePage('several-heads', 'bad/x'), /does not exist/],
    [createOutdatedRulePage('several-heads', 'bad/fork/no-such-file.yaml'), /does not exist/],
  ])('cannot be %j', async (page, error) => {
    await expect(updateRulePage(page, severalHeadsRule, ruleFixturesDirectory)).rejects.toThrow(error)
  })

  test('are listed in the index, with the reason why errors block and the rules of opm', () => {
    const rules = [sampleRule, { ...sampleRule, id: 'no-head', fixed: true as const }]
    const index = updateRuleIndex('# Rules\n\n## Old\n', rules, { 'two-heads': 'Upgrades fail.' })
    expect(index).toContain(
      '| [two-heads](two-heads.md) | error | A channel has one head | Upgrades fail. |\n',
    )
    expect(index).toContain('| [no-head](no-head.md) | opm | A channel has one head | |\n')
    expect(() => updateRuleIndex('# Rules\n\n## Old\n', rules, {})).toThrow(
      /rule-impact\.ts does not contain two-heads/,
    )
    expect(() => updateRuleIndex('', [{ ...sampleRule, severity: 'warning' }], { 'two-heads': 'x' })).toThrow(
      /is not an error/,
    )
  })
})
