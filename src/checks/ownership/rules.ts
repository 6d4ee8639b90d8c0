// The rules of the ownership check about packages and their owners.
import { createRuleDefiner } from '@catalog-bot/findings/rule'
import { type ChangeKind, changeKindDescriptions } from '../../config/change-kinds.ts'
import { formatTruncatedClauses } from '@catalog-bot/findings/printable'

// Lists names in a sentence. Does not escape them, because report/ escapes for every medium.
const maxListedNames = 5

const defineOwnershipRule = createRuleDefiner({ check: 'ownership', judges: 'pull request', since: '0.1.0' })

const maxListedChangesSinceApproval = 5

const labelByUnsupportedFileMode: Readonly<Record<string, string>> = {
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

export const approvalForOtherChangeRule = defineOwnershipRule<{
  approver: string
  head: string
  differences: readonly string[]
}>({
  id: 'approved-something-else',
  severity: 'warning',
  title: 'Approvals cover the change in its current form',
  what: ({ approver, head, differences }) =>
    `the approval of ${head.slice(0, 12)} by ${approver} no longer applies because the change now has a different effect: ${formatTruncatedClauses(differences, maxListedChangesSinceApproval)}`,
  why: 'When the base branch changes, the same commit can have a different effect, which an earlier approval does not cover.',
  fix: ({ approver, head }) =>
    `Ask ${approver} to approve this commit again in a review or by commenting \`/approve ${head.slice(0, 12)}\`.`,
})

export const changeForbiddenRule = defineOwnershipRule<{
  path: string
  package: string
  kinds: readonly ChangeKind[]
}>({
  id: 'change-refused',
  severity: 'error',
  title: 'The pull request makes only changes that this repository allows',
  what: ({ path, package: name, kinds }) =>
    `${path} changes package ${name} in a way that this repository does not allow: ${kinds.join(', ')}`,
  why: ({ kinds }) => kinds.map((kind) => `${kind}: ${changeKindDescriptions[kind]}`).join(' '),
  fix: 'Remove the part of the change that is not allowed. `permissions` in .github/catalog-bot.yml determines which kinds of changes each role can make.',
})

export const changesRequestedRule = defineOwnershipRule<{ reviewer: string }>({
  id: 'changes-requested',
  severity: 'warning',
  title: 'No owner or maintainer has requested changes',
  what: ({ reviewer }) => `${reviewer}, an owner or maintainer, requested changes`,
  why: 'Requested changes block the merge until the reviewer withdraws them, even after new commits.',
  fix: ({ reviewer }) => `Ask ${reviewer} to approve the pull request or to dismiss the review.`,
})

export const confusableNameRule = defineOwnershipRule<{ path: string; name: string; like: string }>({
  id: 'confusable-name',
  severity: 'error',
  title: 'A new name is easy to distinguish from existing names',
  what: ({ path, name, like }) =>
    `${path} adds the name ${JSON.stringify(name)}, which looks too similar to ${JSON.stringify(like)}`,
  why: 'Users might install the wrong package, and on some file systems one path overwrites the other.',
  fix: 'Choose a name that differs in more than case, separators, or look-alike letters.',
})

export const approvalMissingRule = defineOwnershipRule<{
  path: string
  package: string
  kinds: readonly ChangeKind[]
  by: 'owner' | 'maintainer'
  unblock: readonly string[]
}>({
  id: 'consent-missing',
  severity: 'warning',
  title: 'Changes that require a second approval have one',
  what: ({ path, package: name, kinds, by }) =>
    `${path} makes a change to package ${name} that needs approval from ${
      by === 'owner' ? 'another owner or a maintainer' : 'a maintainer'
    }: ${kinds.join(', ')}`,
  why: ({ kinds }) => kinds.map((kind) => `${kind}: ${changeKindDescriptions[kind]}`).join(' '),
  fix: ({ unblock }) =>
    `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`, or remove the part of the change that requires approval.`,
})

export const executableFileRule = defineOwnershipRule<{ path: string }>({
  id: 'executable-file',
  severity: 'info',
  title: 'Package files are not executable',
  what: ({ path }) => `${path} would be executable (mode 100755)`,
  why: 'No tool executes the files in a package, so the executable bit has no effect.',
  fix: 'Optionally, remove the executable bit with `git update-index --chmod=-x`.',
})

export const unsupportedFileMode = defineOwnershipRule<{ path: string; mode: string }>({
  id: 'file-mode',
  severity: 'error',
  title: 'Every file is a regular file',
  what: ({ path, mode }) =>
    `${path} would be ${labelByUnsupportedFileMode[mode] ?? 'something other than a regular file'} (mode ${mode})`,
  why: 'Links and submodules can show readers different content than what catalog-bot checked.',
  fix: 'Commit the content as a regular file, or remove the path.',
})

export const unconfirmedPush = defineOwnershipRule<{
  pusher: string
  author: string
  head: string
  unblock: readonly string[]
}>({
  id: 'foreign-push',
  severity: 'warning',
  title: 'The author pushed the commits, or an authorized person confirmed them',
  what: ({ pusher, author, head }) => `${head.slice(0, 12)} was pushed by ${pusher}, not by ${author}`,
  why: "Other people might be able to push to this branch, and the author's permissions do not cover their commits.",
  fix: ({ head, unblock }) => `Ask ${formatNameList(unblock)} to comment \`/approve ${head.slice(0, 12)}\`.`,
})

export const newPackageRule = defineOwnershipRule<{
  path: string
  package: string
  unblock: readonly string[]
}>({
  id: 'new-package',
  severity: 'warning',
  title: 'A maintainer approves a new package and its first owners',
  what: ({ path, package: name }) => `${path} adds package ${name}, which does not exist on the base branch`,
  why: 'A package name can be claimed only once, so a maintainer decides who owns it.',
  fix: ({ unblock }) =>
    `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
})

export const notOwnerRule = defineOwnershipRule<{
  path: string
  package: string
  author: string
  owners: readonly string[]
  unblock: readonly string[]
}>({
  id: 'not-owner',
  severity: 'warning',
  title: 'An owner makes or approves every change to a package',
  what: ({ path, package: name, author, owners }) =>
    `${path} belongs to package ${name}, ${
      owners.length > 0
        ? `and ${author} is not one of its owners (${formatNameList(owners, 'and')})`
        : 'which has no listed owner'
    }`,
  why: 'Clusters install what the catalog declares, so an owner or a maintainer must approve changes by other authors.',
  fix: ({ unblock }) =>
    `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
})

export const suspiciousPath = defineOwnershipRule<{ path: string; problem: string }>({
  id: 'odd-path',
  severity: 'error',
  title: 'Paths are short, simple, and unambiguous',
  what: ({ path, problem }) => `${JSON.stringify(path)} is not a valid path in a catalog: ${problem}`,
  why: 'If two programs read a path differently, it is unclear who owns the file.',
  fix: 'Rename the file or directory. Use only letters, digits, dots, hyphens, and underscores, and write package names in lowercase.',
})

export const fileOutsidePackagesRule = defineOwnershipRule<{ path: string; unblock: readonly string[] }>({
  id: 'outside-packages',
  severity: 'warning',
  title: 'A maintainer manually merges changes to files that are not in a package',
  what: ({ path }) => `${path} is not in any package`,
  why: 'Workflows, configuration, and owner lists affect the entire repository, so catalog-bot never merges changes to them.',
  fix: ({ unblock }) =>
    `Ask ${formatNameList(unblock)} to merge the pull request manually. Put changes to packages in a separate pull request.`,
})

export const ownerFileBrokenRule = defineOwnershipRule<{ path: string; problem: string }>({
  id: 'owner-file-broken',
  severity: 'error',
  title: 'A changed owner file is valid',
  what: ({ path, problem }) => `the owner file ${path} is invalid after this change: ${problem}`,
  why: 'An invalid owner file grants no permissions to the owners that it names.',
  fix: ({ path }) => `Correct ${path}, and push it.`,
})

export const ownerFileChangeRule = defineOwnershipRule<{
  path: string
  package: string
  change: string
  unblock: readonly string[]
}>({
  id: 'owner-file-change',
  severity: 'warning',
  title: 'A second person approves changes to the owners of a package',
  what: ({ path, package: name, change }) => `${path} changes who owns package ${name}: ${change}`,
  why: 'Without a second approval, authors could grant ownership to themselves.',
  fix: ({ unblock }) =>
    `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`.`,
})

export const ownerLoginReusedRule = defineOwnershipRule<{
  package: string
  login: string
  was: number
  now: number
}>({
  id: 'owner-login-reused',
  severity: 'warning',
  title: 'A listed login still belongs to the same account',
  what: ({ package: name, login, was, now }) =>
    `the login ${login}, an owner of ${name}, belonged to account ${was} and now belongs to account ${now}`,
  why: 'After an account is renamed, another person can register its old login and gain its permissions.',
  fix: 'Ask a maintainer to correct the list of owners. Until then, only maintainers can approve changes to this package.',
})

export const ownerSourceBrokenRule = defineOwnershipRule<{ path: string; problem: string }>({
  id: 'owner-source-broken',
  severity: 'warning',
  title: 'The owner files on the base branch are valid',
  what: ({ path, problem }) => `the owner file ${path} on the base branch is invalid: ${problem}`,
  why: 'A partially parsed file might hide a line that revokes permissions, so catalog-bot ignores the entire file.',
  fix: 'Ask a maintainer to correct the file on the base branch. Until then, maintainers and the owners listed in other files can approve.',
})

export const unknownOwner = defineOwnershipRule<{ path: string; login: string }>({
  id: 'owner-unknown',
  severity: 'error',
  title: 'Every new owner has a GitHub account',
  what: ({ path, login }) => `${path} makes ${login} an owner, but GitHub has no such account`,
  why: 'If another person registered this login later, that person would own the package.',
  fix: 'Correct the login, or remove it.',
})

export const packageContentMismatchRule = defineOwnershipRule<{
  path: string
  package: string
  home: string
  bundle?: string
}>({
  id: 'package-content-mismatch',
  severity: 'error',
  title: 'A file declares only packages that belong in its directory',
  what: ({ path, package: name, home, bundle }) =>
    bundle === undefined
      ? `${path} declares content of package ${name}, which belongs in ${home}`
      : `${path} adds bundle ${bundle} to package ${name}, but package ${home} already has a bundle with that name`,
  why: 'opm combines all files that declare a package, so this file could change content that other people own.',
  fix: ({ home }) => `Make the change in ${home}, or correct the name in this file.`,
})

/** `a`, `a or b`, `a, b or c`, `a, b, c, d, e or 4 others`; `a maintainer` for an empty list. */
function formatNameList(names: readonly string[], conjunction: 'and' | 'or' = 'or'): string {
  const [first] = names
  if (first === undefined) return 'a maintainer'
  if (names.length === 1) return first
  const listed = names.length > maxListedNames ? names.slice(0, maxListedNames) : names.slice(0, -1)
  const last = names.length > maxListedNames ? `${names.length - maxListedNames} others` : names.at(-1)
  return `${listed.join(', ')} ${conjunction} ${last}`
}
