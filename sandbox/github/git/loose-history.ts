// Commits from loose objects, and their common history, with the same results as Git.
import { memoizeByObjectId, NotLooseObjectError, readLooseObject } from './loose-objects.ts'

export interface AuthorOrCommitter {
  readonly name: string
  readonly email: string
  /** Seconds since the epoch. */
  readonly at: number
}

export interface LooseCommitObject {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: AuthorOrCommitter
  readonly committer: AuthorOrCommitter
  readonly message: string
}

/** Throws NotLooseObjectError for anything other than a plain commit in UTF-8. */
export const readLooseCommitObject = memoizeByObjectId((path, id): LooseCommitObject => {
  const { type, bytes } = readLooseObject(path, id)
  const text = bytes.toString()
  const end = text.indexOf('\n\n')
  if (type !== 'commit' || end < 0 || text.includes('\uFFFD')) throw new NotLooseObjectError(id)
  const parents: string[] = []
  let [tree, author, committer]: [string?, AuthorOrCommitter?, AuthorOrCommitter?] = []
  for (const line of text.slice(0, end).split('\n')) {
    const space = line.indexOf(' ')
    const [name, value] = [line.slice(0, space), line.slice(space + 1)]
    if (name === 'tree') tree = value
    else if (name === 'parent') parents.push(value)
    else if (name === 'author') author = parseCommitIdentity(value)
    else if (name === 'committer') committer = parseCommitIdentity(value)
    else if (name === 'encoding') throw new NotLooseObjectError(id)
  }
  if (tree === undefined || author === undefined || committer === undefined) throw new NotLooseObjectError(id)
  return { tree, parents, author, committer, message: text.slice(end + 2) }
})

function parseCommitIdentity(line: string): AuthorOrCommitter | undefined {
  const found = /^([^<>\s](?:[^<>]*[^<>\s])?) <([^<>\s]*)> (\d+) [+-]\d{4}$/.exec(line)
  const [, name, email, at] = found ?? []
  return name === undefined || email === undefined ? undefined : { name, email, at: Number(at) }
}

/** The commits and all their ancestors, each once. */
function* walkCommits(path: string, from: readonly string[]): Generator<string> {
  const visited = new Set<string>()
  const left = [...from]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (visited.has(next)) continue
    visited.add(next)
    yield next
    left.push(...readLooseCommitObject(path, next).parents)
  }
}

export function isAncestorInLooseObjects(path: string, commit: string, ancestor: string): boolean {
  // The object must exist, as Git requires.
  readLooseCommitObject(path, ancestor)
  for (const it of walkCommits(path, [commit])) if (it === ancestor) return true
  return false
}

/** The commits that `tip` contains and `known` do not, in the order of `git log`: newest first. */
export function listCommitRangeInLooseObjects(
  path: string,
  tip: string,
  known: readonly string[],
): readonly string[] {
  const visited = new Set(walkCommits(path, known))
  const line: string[] = []
  const waiting: { readonly id: string; readonly at: number }[] = []
  const enqueueCommit = (id: string): void => {
    if (visited.has(id)) return
    visited.add(id)
    const { at } = readLooseCommitObject(path, id).committer
    const insertIndex = waiting.findIndex((other) => other.at < at)
    waiting.splice(insertIndex < 0 ? waiting.length : insertIndex, 0, { id, at })
  }
  enqueueCommit(tip)
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    line.push(next.id)
    readLooseCommitObject(path, next.id).parents.forEach(enqueueCommit)
  }
  return line
}

/**
 * The oldest commit on the first-parent line of `tip` that has `commit` as a parent. Undefined without such a commit, or if
 * `commit` is the tip.
 */
export function findMergeCommitWithParent(path: string, commit: string, tip: string): string | undefined {
  let found: string | undefined
  for (let at: string | undefined = tip; at !== undefined && at !== commit;) {
    const { parents } = readLooseCommitObject(path, at)
    if (parents.includes(commit)) found = at
    at = parents[0]
  }
  return found
}

/**
 * The best common ancestor, or undefined for unrelated histories. If there are several, Git chooses one, so this function
 * does not.
 */
export function findMergeBaseInLooseObjects(path: string, one: string, other: string): string | undefined {
  const ofOther = new Set(walkCommits(path, [other]))
  const common = [...walkCommits(path, [one])].filter((commit) => ofOther.has(commit))
  const parents = common.flatMap((commit) => readLooseCommitObject(path, commit).parents)
  const below = new Set(walkCommits(path, parents))
  const best = common.filter((commit) => !below.has(commit))
  if (best.length > 1) throw new NotLooseObjectError('criss-cross')
  return best[0]
}
