// docs/how-to/owners.md tells the truth: its table is the default table, its links lead to tests that exist.
import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import {
  changeKindNames,
  changeKindDescriptions,
  defaultPermissions,
} from '../../../src/config/permissions.ts'
import { ownerSourceNames } from '../../../src/config/config.ts'
import { commandNames } from '../../../src/pull-request/command.ts'

const policyPagePath = join(import.meta.dirname, '../../../docs/how-to/owners.md')
const policyPageMarkdown = readFileSync(policyPagePath, 'utf8')

/** The table as the page must show it. */
function renderExpectedPolicyTable(): string {
  const roles = ['owner', 'maintainer', 'contributor', 'bot'] as const
  const rows = changeKindNames.map((kind) => [
    `\`${kind}\``,
    ...roles.map((role) => defaultPermissions[role][kind]),
    changeKindDescriptions[kind],
  ])
  return [['kind of change', ...roles, 'what it is'], Array(6).fill('---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

describe('the policy page', () => {
  test('shows the permissions that are in force where the configuration says nothing', async () => {
    const options = { ...(await resolveConfig(policyPagePath)), parser: 'markdown' } as const
    const wanted = `<!-- permissions -->\n\n${renderExpectedPolicyTable()}\n\n<!-- /permissions -->`
    expect(policyPageMarkdown).toContain((await format(wanted, options)).trim())
  })
  test('names every source of owners and every command', () => {
    for (const source of ownerSourceNames) expect(policyPageMarkdown).toContain(`| \`${source}\``)
    for (const command of commandNames) expect(policyPageMarkdown).toContain(`\`/${command}`)
  })
  test('links every promise to a test that is there, and speaks of the threat where it names one', () => {
    const links = [...policyPageMarkdown.matchAll(/\[(?<threat>T\d\d)\]\(\.\.\/(?<file>[^)]+)\)/g)]
    expect(links.length).toBeGreaterThan(25)
    for (const { groups } of links) {
      const file = join(import.meta.dirname, '../../..', groups?.file ?? '')
      expect(existsSync(file)).toBe(true)
      expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`describe\\(['"\`]${groups?.threat}\\b`))
    }
    for (const line of policyPageMarkdown.split('\n').filter((line) => line.startsWith('- '))) {
      const tests = [...line.matchAll(/\]\(\.\.\/(?<file>test\/[^)]+)\)/g)]
      expect(tests.length).toBeGreaterThan(0)
      for (const { groups } of tests)
        expect(existsSync(join(import.meta.dirname, '../../..', groups?.file ?? ''))).toBe(true)
    }
  })
})
