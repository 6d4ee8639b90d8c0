// In-memory Git objects with the same IDs as in Git, because the same bytes are hashed. A tree is a flat list of
// files with their full paths.
import { createHash } from 'node:crypto'
import {
  toBlobSha,
  toCommitSha,
  toTreeSha,
  type BlobSha,
  type CommitSha,
  type TreeSha,
} from '../../src/pull-request/ids.ts'
import type { TreeEntry } from '../../src/pull-request/change.ts'
import { GitError } from '../../src/adapters/git/git-error.ts'

/** Files by full path. */
export type FileTree = ReadonlyMap<string, TreeEntry>

export interface CommitObject {
  readonly tree: TreeSha
  readonly parents: readonly CommitSha[]
  readonly message: string
  /** `Name <address>` of the author and committer. */
  readonly by: string
  /** Seconds since the epoch. */
  readonly time: number
}

/** All objects of one simulation. The server and its mirrors share them, because object IDs are content hashes. */
export class GitObjects {
  readonly #blobs = new Map<BlobSha, Uint8Array>()
  readonly #trees = new Map<TreeSha, FileTree>()
  readonly #commits = new Map<CommitSha, CommitObject>()

  blob(id: BlobSha): Uint8Array {
    return requireGitObject(this.#blobs.get(id), id)
  }
  tree(id: TreeSha): FileTree {
    return requireGitObject(this.#trees.get(id), id)
  }
  commit(id: CommitSha): CommitObject {
    return requireGitObject(this.#commits.get(id), id)
  }
  has(id: CommitSha): boolean {
    return this.#commits.has(id)
  }

  addBlob(text: string): BlobSha {
    const bytes = Buffer.from(text)
    const id = toBlobSha(hashGitObject('blob', bytes))
    this.#blobs.set(id, bytes)
    return id
  }

  addTree(files: FileTree): TreeSha {
    const sorted = new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const id = toTreeSha(computeTreeId([...sorted]))
    this.#trees.set(id, sorted)
    return id
  }

  addCommit(commit: CommitObject): CommitSha {
    const { tree, parents, message, by, time } = commit
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${by} ${time} +0000`,
      `committer ${by} ${time} +0000`,
    ]
    const id = toCommitSha(hashGitObject('commit', Buffer.from(`${lines.join('\n')}\n\n${message}`)))
    this.#commits.set(id, commit)
    return id
  }

  /** The tree with these files added or removed. */
  edit(tree: TreeSha, changes: Readonly<Record<string, string | undefined>>, mode = '100644'): TreeSha {
    const files = new Map(this.tree(tree))
    for (const [path, text] of Object.entries(changes))
      if (text === undefined) files.delete(path)
      else files.set(path, { mode, oid: this.addBlob(text) })
    return this.addTree(files)
  }

  text(tree: TreeSha, path: string): string | undefined {
    const entry = this.tree(tree).get(path)
    return entry === undefined ? undefined : Buffer.from(this.blob(entry.oid)).toString()
  }
}

function requireGitObject<T>(value: T | undefined, id: string): T {
  if (value === undefined) throw new GitError('missing', `object ${id} is missing`)
  return value
}

function hashGitObject(type: string, body: Uint8Array): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex')
}

/** The Git ID of a directory. `files` are sorted by path relative to the directory. */
function computeTreeId(files: readonly (readonly [path: string, entry: TreeEntry])[]): string {
  const entries: { name: string; mode: string; id: string }[] = []
  const folders = new Map<string, (readonly [string, TreeEntry])[]>()
  for (const [path, entry] of files) {
    const slash = path.indexOf('/')
    if (slash < 0) entries.push({ name: path, mode: entry.mode, id: entry.oid })
    else {
      const folder = path.slice(0, slash)
      folders.set(folder, [...(folders.get(folder) ?? []), [path.slice(slash + 1), entry]])
    }
  }
  for (const [name, inside] of folders) entries.push({ name, mode: '40000', id: computeTreeId(inside) })
  // Git compares a directory name as if it ended in a slash.
  const key = ({ name, mode }: { name: string; mode: string }) => (mode === '40000' ? `${name}/` : name)
  entries.sort((a, b) => (key(a) < key(b) ? -1 : 1))
  const parts = entries.flatMap(({ name, mode, id }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ])
  return hashGitObject('tree', Buffer.concat(parts))
}
