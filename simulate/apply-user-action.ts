// Applies the user actions of a plan to the simulated GitHub, with the permissions that GitHub would enforce.
import type { CommitSha, PullNumber, TreeSha } from '../src/pull-request/ids.ts'
import { hasAncestor } from './git/history.ts'
import { mergeTrees } from './git/merge.ts'
import type { UserAction, PlannedFileEdit } from './simulation-plan.ts'
import { initialOwnersByPackage } from './event-chains.ts'
import { userNames } from './generate-plan.ts'
import {
  getCatalogPath,
  renderCatalog,
  botConfigPath,
  botConfigTextByVariant,
  getExtraCatalogFilePath,
  renderExtraCatalogFile,
  getOwnersFilePath,
  renderOwnersFile,
  packageNames,
  maintainersFilePath,
  renderMaintainersFile,
} from './world/repository-contents.ts'
import { getMaintainers, getPackageOwners } from './world/expected-state.ts'
import {
  mainBranch,
  noBranchRules,
  type SimulatedPull,
  type SimulatedBranchRules,
  type SimulatedGitHub,
} from './world/simulated-github.ts'

/** Checks that a user can require while catalog-bot is about to report them. */
const oneSecondMs = 1000

const requiredCheckNames = ['catalog-bot / ownership', 'catalog-bot / validation', 'catalog-bot / images']

const branchRulesByName: Readonly<
  Record<Extract<UserAction, { do: 'rules' }>['rules'], SimulatedBranchRules>
> = {
  none: noBranchRules,
  'required checks': { ...noBranchRules, requiredChecks: requiredCheckNames },
  linear: { ...noBranchRules, linear: true },
  locked: { ...noBranchRules, locked: true },
}

/** The initial repository. */
export function seedRepository(server: SimulatedGitHub): void {
  for (const name of userNames)
    server.people.add(name, name === 'mia' ? 'maintain' : name === 'wes' || name === 'max' ? 'write' : 'read')
  const { objects } = server
  const empty = objects.addTree(new Map())
  const files: Record<string, string> = {
    'README.md': 'Catalogs\n',
    [maintainersFilePath]: renderMaintainersFile(['max']),
  }
  for (const name of packageNames) {
    files[getCatalogPath(name)] = renderCatalog(name, 1)
    files[getOwnersFilePath(name)] = renderOwnersFile(initialOwnersByPackage[name])
  }
  const first = server.commit(objects.edit(empty, files), [], 'Begin')
  server.moveBranch(mainBranch, first, server.people.of('max'))
  server.moveBranch('release', first, server.people.of('max'))
  server.deliveries.length = 0
}

export function applyUserAction(server: SimulatedGitHub, deed: UserAction): void {
  if (deed.do === 'role') return server.people.setRole(deed.who, deed.role, server.now)
  if (deed.do === 'rules') return void (server.rules = branchRulesByName[deed.rules])
  const by = server.people.of(deed.by)
  const { objects } = server
  if (deed.do === 'open') {
    const baseRef = deed.base ?? mainBranch
    const base = server.mustTip(baseRef)
    const head = createCommit(server, base, deed.edits, base)
    const title = deed.edits.map(({ kind }) => kind).join(', ')
    server.openPull({
      title: `${title} by ${deed.by} @canary <img src=canary> [x](https://canary.example) fixes #1`,
      author: by,
      head,
      baseRef,
      draft: deed.draft === true,
      stacked: deed.stacked === true,
    })
    return
  }
  if (deed.do === 'push-base') {
    const tip = server.mustTip(mainBranch)
    server.moveBranch(mainBranch, createCommit(server, tip, deed.edits, tip), by)
    return
  }
  const pull = findPull(server, deed.pull)
  if (pull === undefined) return
  const { number } = pull
  const change = (action: string, difference: Partial<SimulatedPull>) => {
    server.changePull(number, difference)
    server.deliverPull(action, number, by)
  }
  switch (deed.do) {
    case 'push': {
      if (pull.state !== 'open') return
      const base = server.mustTip(pull.baseRef)
      change('synchronize', { head: createCommit(server, deed.force ? base : pull.head, deed.edits, base) })
      return
    }
    case 'return': {
      const heads = (server.pulls.get(number) ?? []).map(({ value }) => value.head)
      const before = heads.findLast((head) => head !== pull.head)
      if (pull.state === 'open' && before !== undefined) change('synchronize', { head: before })
      return
    }
    case 'update': {
      const base = server.mustTip(pull.baseRef)
      if (pull.state !== 'open' || hasAncestor(objects, pull.head, base)) return
      const merged = mergeTrees(objects, base, pull.head)
      if (merged.kind !== 'clean') return
      change('synchronize', { head: server.commit(merged.tree, [pull.head, base], 'Update') })
      return
    }
    case 'retarget':
      if (pull.state === 'open' && pull.baseRef !== deed.base) change('edited', { baseRef: deed.base })
      return
    case 'close':
      if (pull.state === 'open') change('closed', { state: 'closed' })
      return
    case 'reopen':
      if (pull.state === 'closed') change('reopened', { state: 'open' })
      return
    case 'draft':
      return change('converted_to_draft', { draft: true })
    case 'ready':
      return change('ready_for_review', { draft: false })
    case 'label': {
      const others = pull.labels.filter((label) => label !== deed.label)
      return change(deed.off === true ? 'unlabeled' : 'labeled', {
        labels: deed.off === true ? others : [...others, deed.label],
      })
    }
    case 'review': {
      const id = server.id()
      const submittedAt = server.seconds(server.now)
      const review = { id, author: by, state: deed.state, commit: pull.head, submittedAt }
      server.changePull(number, { reviews: [...pull.reviews, review] })
      server.deliver('pull_request_review', { pull_request: { number } }, by)
      return
    }
    case 'dismiss': {
      const last = pull.reviews.findLast(({ author }) => author?.id === by.id)
      const reviews = pull.reviews.map((review) =>
        review === last ? { ...review, state: 'dismissed' as const } : review,
      )
      server.changePull(number, { reviews })
      server.deliver('pull_request_review', { pull_request: { number } }, by)
      return
    }
    case 'comment':
      server.addComment(number, by, deed.body)
      return
    case 'edit-comment':
    case 'delete-comment': {
      const comment = pull.comments.findLast(({ author }) => author.kind === 'user')
      if (comment === undefined) return
      if (deed.do === 'delete-comment') return server.changeComment(number, comment.id, undefined, by)
      const isSameSecond = deed.isHidden === true && server.now - comment.createdAt < 30 * oneSecondMs
      const updatedAt = isSameSecond ? comment.createdAt : server.now
      return server.changeComment(number, comment.id, { body: deed.body, updatedAt, isEdited: true }, by)
    }
    case 'delete-report': {
      const report = pull.comments.find(({ author }) => author.id === server.bot.id)
      if (report !== undefined) server.changeComment(number, report.id, undefined, by)
      return
    }
    case 'forge-check':
      server.checks.set(pull.head, [
        ...(server.checks.get(pull.head) ?? []),
        ...requiredCheckNames.map((name) => ({
          id: server.id(),
          name,
          app: 1,
          digest: '',
          status: 'completed',
          conclusion: 'success',
          text: '',
        })),
      ])
      return
    case 'merge-by-hand':
      server.mergeByGitHub(number, 'merge', by, `Merge #${number}`)
      return
  }
}

function findPull(server: SimulatedGitHub, number: number): SimulatedPull | undefined {
  return server.pull(number as PullNumber)
}

/** Creates a commit on `parent` that applies these edits to the current tree of `base`. */
function createCommit(
  server: SimulatedGitHub,
  parent: CommitSha,
  edits: readonly PlannedFileEdit[],
  base: CommitSha,
): CommitSha {
  const { objects } = server
  const baseTree = objects.commit(base).tree
  let tree = objects.commit(parent).tree
  for (const edit of edits) tree = applyFileEdit(server, tree, edit, baseTree)
  // The ID keeps commits by different users distinct, even when their edits are identical.
  return server.commit(tree, [parent], `${edits.map(({ kind }) => kind).join(', ')} ${server.id()}`)
}

function countBundleVersions(server: SimulatedGitHub, tree: TreeSha, name: string): number {
  return (server.objects.text(tree, getCatalogPath(name)) ?? '').split('"olm.bundle"').length - 1
}

function applyFileEdit(
  server: SimulatedGitHub,
  tree: TreeSha,
  edit: PlannedFileEdit,
  baseTree: TreeSha,
): TreeSha {
  const { objects } = server
  switch (edit.kind) {
    case 'release': {
      const next = countBundleVersions(server, tree, edit.package) + 1
      return objects.edit(tree, {
        [getCatalogPath(edit.package)]: renderCatalog(edit.package, next, edit.flaw),
      })
    }
    case 'extra': {
      const version = 50 + countBundleVersions(server, baseTree, edit.package)
      return objects.edit(tree, {
        [getExtraCatalogFilePath(edit.package, edit.part)]: renderExtraCatalogFile(
          edit.package,
          edit.part,
          version,
        ),
      })
    }
    case 'own':
    case 'disown': {
      const others = getPackageOwners(objects, tree, edit.package).filter(
        (name) => name !== edit.who.toLowerCase(),
      )
      const owners = edit.kind === 'own' ? [...others, edit.who] : others
      return objects.edit(tree, { [getOwnersFilePath(edit.package)]: renderOwnersFile(owners) })
    }
    case 'add-package':
      return objects.edit(tree, {
        [getCatalogPath(edit.package)]: renderCatalog(edit.package, 1),
        [getOwnersFilePath(edit.package)]: renderOwnersFile([edit.who]),
      })
    case 'configure':
      return objects.edit(tree, { [botConfigPath]: botConfigTextByVariant[edit.config] })
    case 'maintain':
      return objects.edit(tree, {
        [maintainersFilePath]: renderMaintainersFile([...getMaintainers(objects, tree), edit.who]),
      })
    case 'workflow':
      return objects.edit(tree, { '.github/workflows/build.yml': `on: push # ${server.id()}\n` })
    case 'readme':
      return objects.edit(tree, { 'README.md': `Catalogs ${server.id()}\n` })
    case 'link':
      return objects.edit(tree, { [`catalog/${edit.package}/link.json`]: `../bar/catalog.json` }, '120000')
    case 'attributes':
      return objects.edit(tree, { [`catalog/${edit.package}/.gitattributes`]: '*.json merge=ours\n' })
    case 'executable':
      return objects.edit(tree, { [`catalog/${edit.package}/run.json`]: '{}\n' }, '100755')
    case 'nothing':
      return tree
  }
}
