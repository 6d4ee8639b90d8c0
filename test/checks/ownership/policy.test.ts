// docs/how-to/owners.md is accurate: its table has the default permissions, and it names every source of owners.
import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { changeKindNames, changeKindDescriptions } from '../../../src/config/change-kinds.ts'
import { defaultPermissions } from '../../../src/config/permissions.ts'
import { ownerSourceNames } from '../../../src/config/config.ts'

const ownersPagePath = join(import.meta.dirname, '../../../docs/how-to/owners.md')
const ownersPageMarkdown = readFileSync(ownersPagePath, 'utf8')

/** The table as the page must show it. */
function renderExpectedPermissionTable(): string {
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

describe('the page about owners', () => {
  test('shows the permissions that apply without a configuration', async () => {
    const options = { ...(await resolveConfig(ownersPagePath)), parser: 'markdown' } as const
    const wanted = `<!-- permissions -->\n\n${renderExpectedPermissionTable()}\n\n<!-- /permissions -->`
    expect(ownersPageMarkdown).toContain((await format(wanted, options)).trim())
  })
  test('names every source of owners', () => {
    for (const source of ownerSourceNames) expect(ownersPageMarkdown).toContain(`| \`${source}\``)
  })
})
