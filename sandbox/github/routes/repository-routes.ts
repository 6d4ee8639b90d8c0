// REST routes of repositories and their git data: branches, refs, commits, trees, contents, people's permissions.
import {
  GitFailure,
  commitsBeyond,
  deleteRef,
  git,
  gitBytes,
  isAncestor,
  mergeBase,
  refsOf,
  resolveCommit,
  setRef,
} from '../git/git-store.ts'
import { readRefs } from '../git/refs.ts'
import { mayAdminister, mayWrite } from '../http/auth.ts'
import { renameBranch } from '../branch-rules/rename-branch.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { judgeUpdate } from '../branch-rules/judge-update.ts'
import { isRuled } from '../branch-rules/layers.ts'
import { enforce } from '../branch-rules/verdict-texts.ts'
import { followRefs } from '../git/pushes.ts'
import { Refusal, created, invalid, noContent, notFound, ok, page, repoRoute, text } from '../http/route.ts'
import type { RepoCall, Route } from '../http/route.ts'
import { accountView, nodeId } from '../views/account-view.ts'
import { protectionSummary } from '../views/rule-view.ts'
import { commitView, gitCommitView, readCommit, readCommits, readFiles } from '../views/commit-view.ts'
import { pullSummary } from '../views/pull-view.ts'
import { apiUrl, fullRepositoryView, refView, webUrl } from '../views/repository-view.ts'
import { accountByLogin, roleOf } from '../world.ts'
import type { Payload, Repo, World } from '../world.ts'

export function repositoryRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('GET ', { metadata: 'read' }, ({ repo, caller }) =>
      ok(fullRepositoryView(world, repo, mayWrite(world, caller, repo))),
    ),
    repoRoute('GET /collaborators/{username}', { metadata: 'read' }, (call) => {
      const account = accountByLogin(world, call.params['username'] ?? '')
      if (account === undefined || strongerThanPublic(world, call.repo, account.id) === false)
        throw notFound()
      return noContent()
    }),
    repoRoute('GET /collaborators/{username}/permission', { metadata: 'read' }, (call) => {
      const account = accountByLogin(world, call.params['username'] ?? '')
      if (account === undefined) throw notFound()
      const role = roleOf(world, call.repo, account)
      // The old word folds the newer roles; role_name has the real one.
      const permission = role === 'maintain' ? 'write' : role === 'triage' ? 'read' : (role ?? 'none')
      return ok({
        permission,
        role_name: role ?? '',
        user: { ...accountView(world, account), role_name: role ?? '' },
      })
    }),
    ...branchRoutes(state),
    ...refRoutes(state),
    ...commitRoutes(world),
    ...objectRoutes(world),
  ]
}

function strongerThanPublic(world: World, repo: Repo, id: number): boolean {
  const account = world.accounts.get(id)
  const role = account && roleOf(world, repo, account)
  return role !== undefined && (role !== 'read' || repo.roles.has(id))
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

function branchRoutes(state: GitHubState): Route[] {
  const { world } = state
  const tipOf = ({ repo, params }: RepoCall): string => {
    const sha = repo.known.get(`refs/heads/${params['branch'] ?? ''}`)
    if (sha === undefined) throw new Refusal(404, 'Branch not found')
    return sha
  }
  return [
    repoRoute('GET /branches', { contents: 'read' }, (call) => {
      const { repo } = call
      const names = [...repo.known].filter(([ref]) => ref.startsWith('refs/heads/'))
      return page(call, names, (items) =>
        items.map(([ref, sha]) => {
          const name = ref.slice('refs/heads/'.length)
          const commit = { sha, url: `${apiUrl(world, repo)}/commits/${sha}` }
          return { name, commit, protected: isRuled(repo, ref) }
        }),
      )
    }),
    repoRoute('POST /branches/{branch}/rename', { administration: 'write' }, async (call) => {
      if (!mayAdminister(world, call.caller, call.repo)) throw new Refusal(403, 'Must have admin rights')
      const to = text(call, 'new_name', 'Branch')
      await renameBranch(state, call.repo, call.params['branch'] ?? '', to, actorOf(call.caller))
      return created(await branchView(call, to))
    }),
    repoRoute('GET /branches/{branch}', { contents: 'read' }, async (call) => {
      tipOf(call)
      return ok(await branchView(call, call.params['branch'] ?? ''))
    }),
  ]

  async function branchView({ repo }: RepoCall, name: string): Promise<Payload> {
    const self = `${apiUrl(world, repo)}/branches/${encoded(name)}`
    const sha = repo.known.get(`refs/heads/${name}`) ?? ''
    return {
      name,
      commit: commitView(world, repo, await readCommit(repo.path, sha)),
      _links: { self, html: `${webUrl(world, repo)}/tree/${encoded(name)}` },
      protected: isRuled(repo, `refs/heads/${name}`),
      protection: protectionSummary(repo, name),
      protection_url: `${self}/protection`,
    }
  }
}

function refRoutes(state: GitHubState): Route[] {
  const { world } = state
  const refOf = ({ params }: RepoCall): string => `refs/${params['ref'] ?? ''}`
  const shaIn = async (call: RepoCall): Promise<string> => {
    const sha = text(call, 'sha', 'Reference')
    if (!/^[0-9a-f]{40}$/.test(sha) || (await resolveCommit(call.repo.path, sha)) === undefined)
      throw new Refusal(422, 'Object does not exist')
    return sha
  }
  /** A ref that REST moves is a push to the rules. */
  const demandOfRules = async (call: RepoCall, ref: string, old?: string, now?: string): Promise<void> => {
    const { repo, caller: by } = call
    enforce(await judgeUpdate({ world, repo, path: repo.path, ref, old, now, by }), 422)
  }
  /** Refs of pull requests are readable too; they are not among those that `known` holds. */
  const allRefs = ({ path }: Repo): Promise<Map<string, string>> => readRefs(path, ['refs/'])
  return [
    repoRoute('GET /git/ref/{ref}', { contents: 'read' }, async (call) => {
      const sha = (await allRefs(call.repo)).get(refOf(call))
      if (sha === undefined) throw notFound()
      return ok(refView(world, call.repo, refOf(call), sha))
    }),
    repoRoute('GET /git/matching-refs/{ref}', { contents: 'read' }, async (call) =>
      ok(
        [...(await allRefs(call.repo))]
          .filter(([ref]) => ref.startsWith(refOf(call)))
          .map(([ref, sha]) => refView(world, call.repo, ref, sha)),
      ),
    ),
    repoRoute('POST /git/refs', { contents: 'write' }, async (call) => {
      const { repo } = call
      const ref = text(call, 'ref', 'Reference')
      if (!/^refs\/[^/]+\/./.test(ref) || ref.startsWith('refs/pull/'))
        throw new Refusal(422, 'Reference name is not valid')
      const sha = await shaIn(call)
      return await state.inLine(repo, async () => {
        if ((await refsOf(repo.path)).has(ref)) throw new Refusal(422, 'Reference already exists')
        await demandOfRules(call, ref, undefined, sha)
        await setRef(repo.path, ref, sha, '')
        await followRefs(state, repo, actorOf(call.caller))
        return created(refView(world, repo, ref, sha))
      })
    }),
    repoRoute('PATCH /git/refs/{ref}', { contents: 'write' }, async (call) => {
      const { repo } = call
      const ref = refOf(call)
      const sha = await shaIn(call)
      return await state.inLine(repo, async () => {
        const old = (await refsOf(repo.path)).get(ref)
        if (old === undefined) throw new Refusal(422, 'Reference does not exist')
        if (call.body['force'] !== true && !(await isAncestor(repo.path, old, sha)))
          throw new Refusal(422, 'Update is not a fast forward')
        await demandOfRules(call, ref, old, sha)
        await setRef(repo.path, ref, sha, old)
        await followRefs(state, repo, actorOf(call.caller))
        return ok(refView(world, repo, ref, sha))
      })
    }),
    repoRoute('DELETE /git/refs/{ref}', { contents: 'write' }, async (call) => {
      const { repo } = call
      return await state.inLine(repo, async () => {
        const old = (await refsOf(repo.path)).get(refOf(call))
        if (old === undefined) throw new Refusal(422, 'Reference does not exist')
        await demandOfRules(call, refOf(call), old, undefined)
        await deleteRef(repo.path, refOf(call))
        await followRefs(state, repo, actorOf(call.caller))
        return noContent()
      })
    }),
  ]
}

/** The commit that a call's `ref` names, or GitHub's 422 for a word that names none. */
export async function commitOf({ repo }: { repo: Repo }, ref: string): Promise<string> {
  const sha = await resolveCommit(repo.path, ref)
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`)
  return sha
}

function commitRoutes(world: World): Route[] {
  return [
    repoRoute(
      'GET /commits/{commit_sha}/pulls',
      [{ pull_requests: 'read' }, { contents: 'read' }],
      async (call) => {
        const sha = await commitOf(call, call.params['commit_sha'] ?? '')
        const holds = await Promise.all(
          [...call.repo.pulls.values()].map(async (it) => {
            const merged = it.merged?.sha === sha
            const within =
              (await isAncestor(call.repo.path, sha, it.headSha)) &&
              !(await isAncestor(call.repo.path, sha, it.baseSha))
            return merged || within ? [it] : []
          }),
        )
        return page(
          call,
          holds.flat().map((it) => pullSummary(world, it)),
        )
      },
    ),
    repoRoute('GET /compare/{basehead}', { contents: 'read' }, async (call) => {
      const { repo } = call
      const [left, right] = (call.params['basehead'] ?? '').split('...')
      const base = await resolveCommit(repo.path, left ?? '')
      const head = await resolveCommit(repo.path, right ?? '')
      const common = base && head && (await mergeBase(repo.path, base, head))
      if (!base || !head || !common) throw notFound()
      const ahead = await readCommits(repo.path, '--reverse', `${base}..${head}`)
      const behind = (await commitsBeyond(repo.path, [head], base)).length
      const html = `${webUrl(world, repo)}/compare/${encoded(`${left}...${right}`)}`
      const show = async (sha: string): Promise<Payload> =>
        commitView(world, repo, await readCommit(repo.path, sha))
      return ok({
        url: `${apiUrl(world, repo)}/compare/${encoded(`${left}...${right}`)}`,
        html_url: html,
        permalink_url: html,
        diff_url: `${html}.diff`,
        patch_url: `${html}.patch`,
        base_commit: await show(base),
        merge_base_commit: await show(common),
        status: ahead.length > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
        ahead_by: ahead.length,
        behind_by: behind,
        total_commits: ahead.length,
        commits: ahead.slice(0, 250).map((it) => commitView(world, repo, it)),
        // GitHub gives no more than this here, without a sign that there are more.
        files: (await readFiles(world, repo, base, head)).slice(0, 300),
      })
    }),
    repoRoute('GET /git/commits/{commit_sha}', { contents: 'read' }, async (call) => {
      const sha = call.params['commit_sha'] ?? ''
      if ((await resolveCommit(call.repo.path, sha)) !== sha) throw notFound()
      return ok(gitCommitView(world, call.repo, await readCommit(call.repo.path, sha)))
    }),
    repoRoute('GET /commits/{ref}', { contents: 'read' }, async (call) => {
      const { repo } = call
      const commit = await readCommit(repo.path, await commitOf(call, call.params['ref'] ?? ''))
      const parent = commit.parents[0]
      const files = parent === undefined ? [] : await readFiles(world, repo, parent, commit.sha)
      const total = (field: string): number => files.reduce((sum, it) => sum + Number(it[field]), 0)
      return ok({
        ...commitView(world, repo, commit),
        stats: { total: total('changes'), additions: total('additions'), deletions: total('deletions') },
        files: files.slice(0, 300),
      })
    }),
  ]
}

interface Entry {
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size: number | null
  readonly path: string
}

async function readTree(repo: Repo, ...args: string[]): Promise<Entry[]> {
  const output = await git(repo.path, 'ls-tree', '-z', '-l', '--full-tree', ...args)
  return output
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [, mode = '', type = '', sha = '', size = '', path = ''] =
        /^(\d+) (\w+) (\w+) +(\S+)\t([\s\S]*)$/.exec(line) ?? []
      return { mode, type, sha, size: size === '-' ? null : Number(size), path }
    })
}

function objectRoutes(world: World): Route[] {
  const guard = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof GitFailure) throw notFound()
      throw error
    }
  }
  return [
    repoRoute('GET /git/blobs/{file_sha}', { contents: 'read' }, async (call) => {
      const sha = call.params['file_sha'] ?? ''
      if (!/^[0-9a-f]{40}$/.test(sha)) throw invalid('Blob', 'sha')
      const bytes = await guard(gitBytes(call.repo.path, ['cat-file', 'blob', sha]))
      const url = `${apiUrl(world, call.repo)}/git/blobs/${sha}`
      return ok({
        sha,
        node_id: nodeId('Blob', sha),
        size: bytes.length,
        url,
        content: bytes.toString('base64'),
        encoding: 'base64',
      })
    }),
    repoRoute('GET /git/trees/{tree_sha}', { contents: 'read' }, async (call) => {
      const { repo } = call
      const name = call.params['tree_sha'] ?? ''
      const wanted = (await resolveCommit(repo.path, name)) ?? name
      if (wanted.startsWith('-')) throw notFound()
      const sha = (await guard(git(repo.path, 'rev-parse', '--verify', `${wanted}^{tree}`))).trim()
      const entries = await readTree(repo, ...(call.query.has('recursive') ? ['-r', '-t'] : []), sha)
      const url = `${apiUrl(world, repo)}/git`
      // GitHub's cap on a recursive tree.
      const limit = 100_000
      return ok({
        sha,
        url: `${url}/trees/${sha}`,
        tree: entries.slice(0, limit).map(({ path, mode, type, sha: id, size }) => ({
          path,
          mode,
          type,
          sha: id,
          ...(size === null ? {} : { size }),
          url: `${url}/${type}s/${id}`,
        })),
        truncated: entries.length > limit,
      })
    }),
    repoRoute('GET /contents/{path}', { contents: 'read' }, async (call) => {
      const { repo, params, query } = call
      const ref = query.get('ref') ?? repo.defaultBranch
      const commit = await resolveCommit(repo.path, ref)
      if (commit === undefined) throw new Refusal(404, `No commit found for the ref ${ref}`)
      const path = (params['path'] ?? '').replace(/\/$/, '')
      if (path === '')
        return ok((await readTree(repo, commit)).map((it) => contentView(world, repo, ref, it)))
      const [entry] = await readTree(repo, commit, '--', path)
      if (entry === undefined) throw notFound()
      if (entry.type === 'tree') {
        const entries = await readTree(repo, entry.sha)
        return ok(entries.map((it) => contentView(world, repo, ref, { ...it, path: `${path}/${it.path}` })))
      }
      const bytes = await gitBytes(repo.path, ['cat-file', 'blob', entry.sha])
      // Above 1 MB GitHub answers with empty content and the encoding "none".
      const large = bytes.length > 1024 * 1024
      return ok({
        ...contentView(world, repo, ref, entry),
        content: large ? '' : bytes.toString('base64'),
        encoding: large ? 'none' : 'base64',
      })
    }),
  ]
}

function contentView(world: World, repo: Repo, ref: string, { path, sha, size, type, mode }: Entry): Payload {
  const url = `${apiUrl(world, repo)}/contents/${encoded(path)}?ref=${encodeURIComponent(ref)}`
  const kind = type === 'tree' ? 'dir' : 'file'
  const html = `${webUrl(world, repo)}/${kind === 'dir' ? 'tree' : 'blob'}/${encoded(ref)}/${encoded(path)}`
  const data = `${apiUrl(world, repo)}/git/${type}s/${sha}`
  return {
    type: mode === '120000' ? 'symlink' : kind,
    size: size ?? 0,
    name: path.split('/').at(-1),
    path,
    sha,
    url,
    git_url: data,
    html_url: html,
    download_url: kind === 'dir' ? null : `${webUrl(world, repo)}/raw/${encoded(ref)}/${encoded(path)}`,
    _links: { self: url, git: data, html },
  }
}
