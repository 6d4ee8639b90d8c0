// What an automation account may change alone: where the base's configuration grants the kind of change, the package and
// every channel that the change touches. What is not known to be granted is not.
import { matchesName, type Automation } from '../../config/automation.ts'
import type { ChangeKind } from '../../config/permissions.ts'
import type { RequiredApproval } from './required-approvals.ts'

/** Kinds of change that users of a channel feel. */
const inChannels: ReadonlySet<ChangeKind> = new Set([
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

/** The kinds of change, of those that need approval here, that a grant covers. */
export function grantedKinds(
  { packages, channels, changes }: Automation,
  requirement: Pick<RequiredApproval, 'package' | 'directory' | 'kinds' | 'channels'>,
): ReadonlySet<ChangeKind> {
  const isOneOf = (patterns: readonly string[], name: string) =>
    patterns.some((pattern) => matchesName(pattern, name))
  // A directory is owned as well as a package: what lies in another package's is not granted with it.
  const places = [requirement.package, ...(requirement.directory === '' ? [] : [requirement.directory])]
  if (!places.every((place) => isOneOf(packages, place))) return new Set()
  const { channels: touched } = requirement
  const mayTouchThem =
    touched === undefined
      ? channels.includes('*')
      : touched.length > 0 && touched.every((channel) => isOneOf(channels, channel))
  const granted: ReadonlySet<ChangeKind> = new Set(changes)
  return new Set(
    requirement.kinds.filter((kind) => granted.has(kind) && (mayTouchThem || !inChannels.has(kind))),
  )
}
