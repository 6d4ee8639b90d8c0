// GitHub failing, or somebody in the way, just when a pull request is merged. Played with the bot alone: what a push meets
// here is no matter of settings.
import { checksRule } from '../../sandbox/github/branch-rules/landing-ground.ts'
import { merged, ownChecks, type Row, type Stage } from './row.ts'

const own = ({ github, full }: Stage): unknown =>
  github.addRules(full, [checksRule(ownChecks.map((context) => ({ context })))])

export const atTheWorstMoment: readonly Row[] = [
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
    bot: merged('linear'),
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
    bot: merged('push'),
  },
  {
    name: 'somebody’s branch has the name of our temporary branch',
    source: 'the name is no secret: whoever may push can take it',
    set: async (it) => {
      own(it)
      const files = { 'catalogs/v4.20/lighthouse/catalog.yaml': 'schema: olm.package\nname: theirs\n' }
      const branch = 'catalog-bot/tmp-1-main-0123456789ab'
      await it.github.pushToBase(it.full, files, { by: 'bob', branch })
    },
    push: 'accepted',
    bot: merged('push'),
  },
  {
    name: 'the base moves while our checks are put on the merge',
    source: 'a push by compare-and-swap is refused then, and all is done again',
    set: (it) => {
      own(it)
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
    bot: merged('push'),
  },
]
