// Decides what an automation account can change without approval. The base must grant the kind, the package, and every
// touched channel.
import { matchesNamePattern, type AutomationConfig } from '../../config/merge-settings.ts'
import type { ChangeKind } from '../../config/permissions.ts'
import type { RequiredApproval } from './required-approvals.ts'

/** Kinds of change that affect users of a channel. */
const channelAffectingChangeKinds: ReadonlySet<ChangeKind> = new Set([
  'add-bundle',
  'edit-bundle',
  'remove-bundle',
  'add-edge',
  'remove-entry',
  'remove-channel',
  'edit-default-channel',
  'deprecate',
  'add-to-catalog',
])

export function findAutomationAllowedChangeKinds(
  { packages, channels, changes }: AutomationConfig,
  requirement: Pick<RequiredApproval, 'package' | 'directory' | 'kinds' | 'channels'>,
): ReadonlySet<ChangeKind> {
  const isOneOf = (patterns: readonly string[], name: string) =>
    patterns.some((pattern) => matchesNamePattern(pattern, name))
  // The grant must cover both package and directory, because the directory can contain files of other packages.
  const packageNames = [requirement.package, ...(requirement.directory === '' ? [] : [requirement.directory])]
  if (!packageNames.every((packageName) => isOneOf(packages, packageName))) return new Set()
  const { channels: touched } = requirement
  const mayTouchThem =
    touched === undefined
      ? channels.includes('*')
      : touched.length > 0 && touched.every((channel) => isOneOf(channels, channel))
  const granted: ReadonlySet<ChangeKind> = new Set(changes)
  return new Set(
    requirement.kinds.filter(
      (kind) => granted.has(kind) && (mayTouchThem || !channelAffectingChangeKinds.has(kind)),
    ),
  )
}
