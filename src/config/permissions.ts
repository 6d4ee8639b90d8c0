// The permission table: who decides on which kind of change. Rows are roles, columns are kinds of change, and each cell specifies
// who must agree. Each row has a minimum, so that, for example, a contributor can never make a change alone.
import { z } from 'zod'
import { section } from './setting-schemas.ts'
import { changeKindDescriptions, changeKindNames, type ChangeKind } from './change-kinds.ts'

/**
 * Who must agree before a change is merged. `alone`: only the author; `owner`: an owner of the package or a maintainer,
 * other than the author; `maintainer`: a maintainer other than the author; `refused`: catalog-bot does not merge the
 * change.
 */
const requiredApproverSchema = z.enum(['alone', 'owner', 'maintainer', 'refused'])
const nonOwnerRequiredApproverSchema = z.enum(['owner', 'maintainer', 'refused'])

export type RequiredApprover = z.output<typeof requiredApproverSchema>

export type PermissionRole = 'owner' | 'maintainer' | 'contributor' | 'bot'

type RequiredApproverByChangeKind = Record<ChangeKind, RequiredApprover>

const defaultOwnerPermissions: RequiredApproverByChangeKind = {
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

const defaultMaintainerPermissions = Object.fromEntries(
  changeKindNames.map((kind) => [kind, 'alone']),
) as RequiredApproverByChangeKind

const defaultBotPermissions: RequiredApproverByChangeKind = {
  ...defaultOwnerPermissions,
  'edit-owners': 'maintainer',
}

/** A contributor needs the consent of a user who could make the change alone. */
const defaultContributorPermissions = Object.fromEntries(
  changeKindNames.map((kind) => [
    kind,
    defaultOwnerPermissions[kind] === 'alone' ? 'owner' : defaultOwnerPermissions[kind],
  ]),
) as RequiredApproverByChangeKind

/** The permissions that apply if the configuration does not override them. */
export const defaultPermissions: Readonly<Record<PermissionRole, Readonly<RequiredApproverByChangeKind>>> = {
  owner: defaultOwnerPermissions,
  maintainer: defaultMaintainerPermissions,
  contributor: defaultContributorPermissions,
  bot: defaultBotPermissions,
}

function createRolePermissionsSchema<Cell extends z.ZodEnum>(
  role: PermissionRole,
  cell: (kind: ChangeKind) => Cell,
) {
  const columns = changeKindNames.map((kind) => [
    kind,
    (cell(kind) as unknown as z.ZodEnum<{ alone: 'alone' }>)
      .default(defaultPermissions[role][kind] as 'alone')
      .describe(changeKindDescriptions[kind]),
  ])
  return z
    .strictObject(
      Object.fromEntries(columns) as Record<ChangeKind, z.ZodDefault<z.ZodType<RequiredApprover>>>,
    )
    .prefault({})
}

/**
 * The schema does not offer `alone` in three cases: for an owner's changes to the list of owners (docs/dev/threats.md#t05), for any
 * change of a contributor, and for a bot's changes to the list of owners.
 */
export const permissionsSchema = section(
  'Who must approve a change, based on its kind and on the role of its author.',
  {
    owner: createRolePermissionsSchema('owner', (kind) =>
      kind === 'edit-owners' ? nonOwnerRequiredApproverSchema : requiredApproverSchema,
    ).describe('Owners of the package.'),
    maintainer: createRolePermissionsSchema('maintainer', () => requiredApproverSchema).describe(
      'Maintainers of the repository.',
    ),
    contributor: createRolePermissionsSchema('contributor', () => nonOwnerRequiredApproverSchema).describe(
      'All other users.',
    ),
    bot: createRolePermissionsSchema('bot', (kind) =>
      kind === 'edit-owners' ? nonOwnerRequiredApproverSchema : requiredApproverSchema,
    ).describe('GitHub Apps that are listed as owners, for pull requests from a branch in this repository.'),
  },
)

export type Permissions = z.output<typeof permissionsSchema>
