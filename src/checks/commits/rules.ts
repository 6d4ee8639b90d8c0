// The rules of the ownership check about the commits of a pull request.
import { createRuleDefiner } from '@catalog-bot/findings/rule'
import { type PullClosedByPush, maxIncomingCommits } from '../../pull-request/snapshot.ts'

const defineCommitRule = createRuleDefiner({ check: 'ownership', judges: 'pull request', since: '0.1.0' })

export const closesOtherPullRule = defineCommitRule<{
  pull: number
  by: PullClosedByPush['by']
  heldBack?: string
}>({
  id: 'closes-other-pull',
  severity: 'error',
  network: true,
  title: "Merging a pull request does not close another author's pull request",
  what: ({ pull, by, heldBack = 'not all of its changes' }) =>
    by === 'words'
      ? `a commit message closes pull request ${pull}, which another author opened`
      : `the commits contain the head commit of pull request ${pull} (by another author), but ${heldBack}`,
  why: ({ by }) =>
    by === 'words'
      ? 'As soon as the commit message reaches the default branch, GitHub closes the other pull request without asking its author.'
      : 'GitHub would mark the other pull request as merged, and its author would have to open a new one.',
  fix: ({ by }) =>
    by === 'words'
      ? 'Reword the commit message, or ask the author of the other pull request to close it first.'
      : 'Rebase or squash to drop the commits of the other pull request, or wait until that pull request is merged or closed.',
})

export const mergesOtherPullRule = defineCommitRule<{
  pull: number
  by: PullClosedByPush['by']
  isKept: boolean
}>({
  id: 'lands-other-pull',
  severity: 'warning',
  network: true,
  title: 'A pull request does not include another open pull request',
  what: ({ pull, by, isKept }) =>
    by === 'words'
      ? `a commit message closes pull request ${pull}`
      : `the commits contain the head commit of pull request ${pull}${isKept ? '' : ', but not all of its changes'}`,
  why: ({ by }) =>
    by === 'words'
      ? 'GitHub closes the other pull request when this one is merged.'
      : 'GitHub marks both pull requests as merged when this one is merged.',
  fix: ({ by }) =>
    by === 'words'
      ? 'If this is not intentional, reword the commit message.'
      : 'If this is not intentional, rebase to drop the commits of the other pull request.',
})

export const oversizedFileInHistoryRule = defineCommitRule<{ blob: string }>({
  id: 'oversized-file-in-history',
  severity: 'error',
  title: 'No commit contains a file larger than 100 MiB',
  what: ({ blob }) => `the commits contain a file larger than 100 MiB: ${blob}`,
  why: 'GitHub rejects every push that contains such a file, even if a later commit removes it.',
  fix: ({ blob }) =>
    `Squash the commits into one commit without the file. To find the file, run \`git log --find-object=${blob}\`.`,
})

export const tooManyCommitsRule = defineCommitRule<object>({
  id: 'too-many-commits',
  severity: 'error',
  title: `A pull request has at most ${maxIncomingCommits} commits`,
  what: `the pull request has more than ${maxIncomingCommits} commits, or more than catalog-bot can read`,
  why: 'GitHub does not list the remaining commits, so reviewers cannot see everything that would become part of the history.',
  fix: 'Squash the commits. If most of the commits are by other authors, rebase onto the base branch.',
})

export const unreadableCommitRule = defineCommitRule<{ commit: string; more: number }>({
  id: 'unreadable-commit',
  severity: 'error',
  title: 'Every commit is at most 256 KiB and has a message in UTF-8, ASCII, or Latin-1',
  what: ({ commit, more }) =>
    `commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} is larger than 256 KiB, or its message is not in UTF-8, ASCII, or Latin-1`,
  why: 'catalog-bot reads which pull requests a commit message closes. GitHub might read a large message, or one in another encoding, differently.',
  fix: 'Reword the commit message in UTF-8, and keep it short.',
})

export const unsignedCommitRule = defineCommitRule<{ commit: string; more: number }>({
  id: 'unsigned-commit',
  severity: 'error',
  network: true,
  title: 'Every commit is signed if the base branch requires it',
  what: ({ commit, more }) => `commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} is not signed`,
  why: 'The base branch requires signed commits, so GitHub rejects the push.',
  fix: 'Sign each commit while rebasing onto the base branch: `git rebase --exec "git commit --amend --no-edit -S"`.',
})

export const workflowEditInHistoryRule = defineCommitRule<{
  commit: string
  more: number
  isVisible: boolean
}>({
  id: 'workflow-edit-in-history',
  severity: 'error',
  title: 'No commit changes .github/workflows, even temporarily',
  isWarning: ({ isVisible }) => isVisible,
  what: ({ commit, more }) =>
    `commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} changes workflow files`,
  why: 'GitHub does not let catalog-bot push a commit that changes workflows, even if a later commit reverts the change.',
  fix: ({ isVisible }) =>
    isVisible
      ? 'Ask a maintainer to merge this pull request manually.'
      : 'Squash the commits so that no commit changes .github/workflows.',
})

function formatOmittedCountSuffix(more: number): string {
  return more === 0 ? '' : ` (and ${more} more)`
}
