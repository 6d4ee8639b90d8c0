// GitHub fails, or another user interferes, during a merge. These rows run only with the bot, because the outcome of a
// push here doesn't depend on settings.
import { createStatusChecksRule } from '../../sandbox/github/branch-rules/merge-rules-fixture.ts'
import {
  createExpectedMergeResult,
  botCheckNames,
  type MergeTableRow,
  type MergeTableRowRepository,
} from './table-row.ts'

const requireBotChecks = ({ github, full }: MergeTableRowRepository): unknown =>
  github.addRules(full, [createStatusChecksRule(botCheckNames.map((context) => ({ context })))])

/** Named like one of catalog-bot's temporary branches, but pushed by a person. */
export const userCreatedTemporaryBranch = 'catalog-bot/tmp-1-main-0123456789ab'

export const interruptedMergeRows: readonly MergeTableRow[] = [
  {
    name: 'GitHub merges and answers 500',
    source: 'runbot 1378: reported failure and moved the branch',
    set: ({ github, full }) => {
      github.addRules(full, [{ type: 'required_linear_history' }])
      github.fail(({ method, path }) => method === 'PUT' && path.includes(`/${full}/`), {
        applyThenFail: 500,
      })
    },
    push: 'This branch must not contain merge commits.',
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'GitHub takes a push and the connection ends before it says so',
    source: 'runbot 1378: reported failure and moved the branch',
    set: ({ github, full }) => {
      github.fail(({ method, path }) => method === 'POST' && path.includes(`/${full}.git/git-receive-pack`), {
        disconnect: 'after',
      })
    },
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'GitHub is down for a push',
    source: 'https://www.githubstatus.com: 503 from git, nothing done',
    set: ({ github, full }) => {
      github.fail(({ method, path }) => method === 'POST' && path.includes(`/${full}.git/git-receive-pack`), {
        status: 503,
      })
    },
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'the lock of the branch is held for a while',
    source: 'git: cannot lock ref, while another process of GitHub updates it',
    set: async ({ github, full }) => {
      const unlock = await github.lockBranch(full, 'main')
      github.fail(
        ({ method, path }) => {
          const isPush = method === 'POST' && path.includes(`/${full}.git/git-receive-pack`)
          // The lock is held only for the first push.
          if (isPush) setTimeout(() => void unlock(), 500)
          return false
        },
        { status: 500 },
      )
    },
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'GitHub needs a while to know whether a pull request can be merged',
    source: 'REST: mergeable is null while it is computed, and merging is refused meanwhile',
    set: ({ github, full }) => {
      github.addRules(full, [{ type: 'required_linear_history' }])
      github.fail(({ method, path }) => method === 'PUT' && path.includes(`/${full}/`), {
        status: 405,
        body: { message: 'Pull Request is not mergeable' },
      })
    },
    push: 'This branch must not contain merge commits.',
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'another merge of the pull request is said to be under way',
    source: 'stategraph 86: 405 “Merge already in progress”',
    set: ({ github, full }) => {
      github.addRules(full, [{ type: 'required_linear_history' }])
      github.fail(({ method, path }) => method === 'PUT' && path.includes(`/${full}/`), {
        status: 405,
        body: { message: 'Merge already in progress' },
      })
    },
    push: 'This branch must not contain merge commits.',
    bot: createExpectedMergeResult('linear'),
  },
  {
    name: 'a user’s branch has the name of a temporary branch of catalog-bot',
    source: 'the name is no secret: whoever may push can take it',
    set: async (it) => {
      requireBotChecks(it)
      const files = { 'catalogs/v4.20/lighthouse/catalog.yaml': 'schema: olm.package\nname: theirs\n' }
      await it.github.pushToBase(it.full, files, { by: 'bob', branch: userCreatedTemporaryBranch })
    },
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
  {
    name: 'the base moves while our checks are put on the merge',
    source: 'a push by compare-and-swap is refused then, and all is done again',
    set: (it) => {
      requireBotChecks(it)
      let moves = 0
      it.github.fail(
        ({ method, path }) => {
          const isChecks = method === 'POST' && path.endsWith(`/${it.full}/check-runs`)
          if (isChecks && (moves += 1) === 4)
            void it.github.pushToBase(it.full, { 'NOTES.md': 'Again.\n' }, { by: 'harbormaster' })
          return false
        },
        { status: 500 },
      )
    },
    push: 'accepted',
    bot: createExpectedMergeResult('push'),
  },
]
