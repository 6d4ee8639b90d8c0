// The permission table: who decides on which kind of change. Rows are roles, columns are kinds of change, and a
// cell says who must agree. It never says less than the floor of its row: a stranger decides nothing alone.
import { z } from 'zod'

/**
 * Who must agree before a change is merged:
 * `alone` nobody besides the author; `owner` an owner of the package, or a maintainer, other than the author;
 * `maintainer` a maintainer other than the author; `refused` the bot does not merge it at all.
 */
const consentSchema = z.enum(['alone', 'owner', 'maintainer', 'refused'])
const othersConsentSchema = z.enum(['owner', 'maintainer', 'refused'])

export type Consent = z.output<typeof consentSchema>

/** Kinds of change a pull request can make to a package, each explained as the table's reader sees it. */
export const changeKindDescriptions = {
  'add-bundle': 'A new bundle in a package that exists.',
  'edit-bundle': 'A published bundle changes under the same name.',
  'remove-bundle': 'A bundle is removed from a catalog, although users may have installed it.',
  'add-edge': 'New channels, new entries in a channel, or changed upgrade edges of an entry.',
  'remove-entry': 'An entry is removed from a channel: users who installed it get no upgrades there.',
  'remove-channel': 'A channel is removed: its subscribers get no upgrades.',
  'edit-default-channel': 'New subscribers of the package get another channel.',
  'edit-metadata': 'The description, the icon, or blobs of custom schemas.',
  deprecate: 'Deprecations are added, changed or removed.',
  'update-reference': 'The image of an existing entry in a list of references.',
  'edit-sources': 'Templates, release configuration and other files of the package beside its blobs.',
  'add-to-catalog': 'A package that exists is added to one more catalog.',
  'add-catalog': 'The first files of a catalog, such as that of a new platform version.',
  'add-package': 'A package that no catalog has yet, and its first owners.',
  'remove-package': 'A package is removed from a catalog.',
  'edit-owners': 'The list of the people who own the package.',
} as const

export type ChangeKind = keyof typeof changeKindDescriptions
export const changeKindNames = Object.keys(changeKindDescriptions) as readonly ChangeKind[]

export type PermissionRole = 'owner' | 'maintainer' | 'contributor' | 'bot'

type PermissionRow = Record<ChangeKind, Consent>

const ownerPermissions: PermissionRow = {
  'add-bundle': 'alone',
  'edit-bundle': 'maintainer',
  'remove-bundle': 'maintainer',
  'add-edge': 'alone',
  'remove-entry': 'maintainer',
  'remove-channel': 'maintainer',
  'edit-default-channel': 'alone',
  'edit-metadata': 'alone',
  deprecate: 'alone',
  'update-reference': 'alone',
  'edit-sources': 'alone',
  'add-to-catalog': 'alone',
  'add-catalog': 'maintainer',
  'add-package': 'maintainer',
  'remove-package': 'maintainer',
  'edit-owners': 'owner',
}

const maintainerPermissions = Object.fromEntries(
  changeKindNames.map((kind) => [kind, 'alone']),
) as PermissionRow

const botPermissions: PermissionRow = { ...ownerPermissions, 'edit-owners': 'maintainer' }

/** Strangers need the consent of whoever could have made the change alone. */
const contributorPermissions = Object.fromEntries(
  changeKindNames.map((kind) => [
    kind,
    ownerPermissions[kind] === 'alone' ? 'owner' : ownerPermissions[kind],
  ]),
) as PermissionRow

/** What the table says where the configuration says nothing. */
export const defaultPermissions: Readonly<Record<PermissionRole, Readonly<PermissionRow>>> = {
  owner: ownerPermissions,
  maintainer: maintainerPermissions,
  contributor: contributorPermissions,
  bot: botPermissions,
}

function permissionRowSchema<Cell extends z.ZodEnum>(role: PermissionRole, cell: (kind: ChangeKind) => Cell) {
  const columns = changeKindNames.map((kind) => [
    kind,
    (cell(kind) as unknown as z.ZodEnum<{ alone: 'alone' }>)
      .default(defaultPermissions[role][kind] as 'alone')
      .describe(changeKindDescriptions[kind]),
  ])
  return z
    .strictObject(Object.fromEntries(columns) as Record<ChangeKind, z.ZodDefault<z.ZodType<Consent>>>)
    .prefault({})
}

/**
 * An owner never changes the list of owners alone where the change adds people (T05), so that cell cannot say so;
 * a contributor decides nothing alone; a bot never decides who owns something.
 */
export const permissionsSchema = z
  .strictObject({
    owner: permissionRowSchema('owner', (kind) =>
      kind === 'edit-owners' ? othersConsentSchema : consentSchema,
    ).describe('People who own the package.'),
    maintainer: permissionRowSchema('maintainer', () => consentSchema).describe(
      'People who maintain the repository.',
    ),
    contributor: permissionRowSchema('contributor', () => othersConsentSchema).describe('Everybody else.'),
    bot: permissionRowSchema('bot', (kind) =>
      kind === 'edit-owners' ? othersConsentSchema : consentSchema,
    ).describe('Accounts of GitHub Apps that are listed as owners, with a branch in this repository itself.'),
  })
  .prefault({})
  .describe('Who must agree to a change: rows are the roles of its author, columns the kinds of change.')

export type Permissions = z.output<typeof permissionsSchema>
