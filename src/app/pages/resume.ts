// Unfreezes from a page, with the same permission check as /thaw: owner files and configuration at the branch's tip,
// and GitHub's answer about this account. Merges nothing.
import { userId } from '../../change/ids.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { answersFrom, questionKey, type AnswerTo, type Question } from '../../checks/questions.ts'
import { ownerFilesOf, readAuthority } from '../../checks/ownership/ownership.ts'
import { isBot, people } from '../../checks/ownership/people.ts'
import { loginOf, type Principal } from '../../checks/ownership/principal.ts'
import { readText } from '../../examine/catalogs/catalog-loader.ts'
import { readConfig } from '../../examine/read-config.ts'
import type { StopKind } from '../../gate/landing-stop.ts'
import type { Forge, ForgeQuestion } from '../../ports/forge.ts'
import type { Jobs } from '../../ports/jobs.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { ListedRepository } from '../../ports/page-records.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { Repository } from '../../ports/repository.ts'

export interface ResumeWish {
  readonly listed: ListedRepository
  readonly kind: StopKind
  /** If absent, the freeze of the whole repository. */
  readonly branch?: string
  readonly by: { readonly id: number; readonly login: string }
}

/** Returns undefined on success, else a sentence for the person. */
export type Resume = (wish: ResumeWish) => Promise<string | undefined>

interface Place {
  readonly forge: Forge
  readonly repository: Repository
}

export interface ResumeOptions {
  readonly store: LandingStops & Jobs & PullMemory
  readonly open: (at: { installation: number; repository: RepositoryName }) => Promise<Place>
  readonly onResumed: (wish: ResumeWish) => void
}

const ended = 'This stop had ended already.'

export function openResume({ store, open, onResumed }: ResumeOptions): Resume {
  return async (wish) => {
    const { listed, kind, branch, by } = wish
    const { repository, installation } = listed
    // Check the branch against the records before git sees it: the form is untrusted.
    const stops = await store.landingStops(repository)
    if (!stops.some((stop) => stop.kind === kind && (branch === undefined || stop.branch === branch)))
      return ended
    const place = await open({ installation, repository })
    const holds = await isMaintainer(by, branch ?? (await place.forge.defaultBranch()), place, store)
    if (holds === 'unknown')
      return 'The bot could not find out whether you are a maintainer here. Try again in a moment.'
    if (holds === 'no') return 'Only maintainers of this repository can resume merging.'
    const done = await store.resumeLandings({
      repository,
      branch,
      kinds: [kind],
      by: { kind: 'page', login: by.login, user: userId(by.id) },
      reason: 'resumed on the status page',
    })
    // A freeze of the whole repository ends with its branches' freezes, as with /thaw all.
    if (done.length === 0) return ended
    onResumed(wish)
    await store.enqueue({ kind: 'sweep', installation, repository })
    return undefined
  }
}

/** No answer means no. */
async function isMaintainer(
  by: ResumeWish['by'],
  branch: string,
  { forge, repository }: Place,
  store: PullMemory,
): Promise<'yes' | 'no' | 'unknown'> {
  const account = { id: userId(by.id), login: loginOf({ ...by, id: userId(by.id), kind: 'user' }) }
  if (isBot(account)) return 'no'
  await repository.fetch(branch)
  const tip = await repository.tip(branch)
  if (tip === undefined) return 'no'
  const tree = await repository.treeOf(tip)
  const { config, findings } = await readConfig(repository, tree)
  if (findings.length > 0) return 'unknown'
  const entries = await repository.list(tree)
  const paths = entries.map(({ path }) => path)
  const needed = new Set(ownerFilesOf(paths, []))
  const texts = new Map<string, string>()
  for (const { path, oid, mode } of entries)
    if (needed.has(path) && mode.startsWith('100')) texts.set(path, await readText(repository, oid))
  const existing = new Set(paths)
  const { maintainers } = readAuthority(
    { has: (path) => existing.has(path), text: (path) => texts.get(path) },
    config,
  )
  const answers = new Map<string, AnswerTo[keyof AnswerTo]>()
  for (const question of questionsAbout(account, maintainers))
    answers.set(questionKey(question), await forge.answer(question))
  const accounts = await store.firstSeenAccounts(forge.repository, new Map())
  return people(answersFrom(answers), accounts, maintainers, config).isMaintainer(account).kind
}

function questionsAbout(
  { id, login }: { readonly id: ReturnType<typeof userId>; readonly login: string },
  maintainers: readonly Principal[],
): readonly Extract<ForgeQuestion, Question>[] {
  return [
    ...maintainers.flatMap((principal): ForgeQuestion[] => {
      if (principal.kind === 'user')
        return principal.id === undefined && principal.login === login ? [{ kind: 'user', login }] : []
      if (principal.kind !== 'team') return []
      const { organization, team } = principal
      return [{ kind: 'team-member', organization, team, user: id, login }]
    }),
    { kind: 'role', user: id, login },
  ]
}
