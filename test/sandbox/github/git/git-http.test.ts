import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { full, furnish, git, name } from '../sample-world.ts'
import type { Furnished } from '../sample-world.ts'

let it: Furnished
let url: string
beforeAll(async () => {
  it = await furnish()
  url = `${it.github.url}/${full}.git`
})
afterAll(async () => it.stop())

/** A clone with one more commit on main. */
async function worked(token: string): Promise<string> {
  const folder = await mkdtemp(join(it.directory, 'work-'))
  await git(folder, token, 'clone', '-q', url, '.')
  await writeFile(join(folder, 'more.txt'), folder)
  await git(folder, token, 'add', '.')
  await git(folder, token, 'commit', '-qm', 'More')
  return folder
}
const push = async (folder: string, token: string, ...refs: string[]): Promise<string> =>
  git(folder, token, 'push', '-q', 'origin', ...refs)

describe('reading', () => {
  test('a partial clone leaves blobs out and fetches them when wanted', async () => {
    const folder = await mkdtemp(join(it.directory, 'partial-'))
    const token = await it.token()
    await git(folder, token, 'clone', '-q', '--bare', '--filter=blob:none', url, '.')
    const missing = await git(folder, token, 'rev-list', '--objects', '--all', '--missing=print')
    expect(missing.split('\n').filter((line) => line.startsWith('?'))).toHaveLength(4)
    expect(await git(folder, token, 'show', 'HEAD:README.md')).toBe('# Catalog')
  })

  test("any commit of the network can be fetched by its id, a stranger's in a fork too", async () => {
    const fork = await it.github.fork(full, 'stranger')
    const sha = await it.github.pushToBase('stranger/community', { 'planted.txt': 'x' }, { by: 'stranger' })
    expect(fork.known.get('refs/heads/main')).toBe(sha)
    const folder = await mkdtemp(join(it.directory, 'imposter-'))
    await git(folder, undefined, 'init', '-q', '--bare')
    await git(folder, await it.token(), 'fetch', '-q', url, sha)
    expect((await it.octokit.rest.repos.getCommit({ ...name, ref: sha })).data.sha).toBe(sha)
  })

  test('a public repository needs no token, a private one does, and a wrong token helps nowhere', async () => {
    await git(it.directory, undefined, 'ls-remote', url)
    await expect(git(it.directory, 'ghs_wrong', 'ls-remote', url)).rejects.toThrow()
    await it.github.createRepository('catalogs', 'inner', { private: true })
    const inner = `${it.github.url}/catalogs/inner.git`
    await expect(git(it.directory, undefined, 'ls-remote', inner)).rejects.toThrow()
    await expect(git(it.directory, await it.token(), 'ls-remote', inner)).rejects.toThrow()
    await git(it.directory, it.github.tokenFor('maintainer'), 'ls-remote', inner)
  })
})

describe('pushing', () => {
  test('needs contents: write', async () => {
    const folder = await worked(await it.token())
    const reader = await it.token({ permissions: { contents: 'read' } })
    await expect(push(folder, reader, 'HEAD:refs/heads/no')).rejects.toThrow('403')
    await expect(push(folder, it.github.tokenFor('stranger'), 'HEAD:refs/heads/no')).rejects.toThrow('403')
    await push(folder, await it.token(), 'HEAD:refs/heads/yes')
    it.github.archive(full)
    await expect(push(folder, await it.token(), 'HEAD:refs/heads/no')).rejects.toThrow('403')
    it.github.archive(full, false)
  })

  test('of a commit that touches workflows is for people, and for Apps that may, though it is taken back', async () => {
    const folder = await worked(await it.token())
    await mkdir(join(folder, '.github', 'workflows'), { recursive: true })
    await writeFile(join(folder, '.github', 'workflows', 'evil.yml'), 'on: push\n')
    await git(folder, undefined, 'add', '.')
    await git(folder, undefined, 'commit', '-qm', 'Edit')
    await git(folder, undefined, 'rm', '-q', '.github/workflows/evil.yml')
    await git(folder, undefined, 'commit', '-qm', 'Take it back')
    await expect(push(folder, await it.token(), 'HEAD:refs/heads/no')).rejects.toThrow(
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/evil.yml` without `workflows` permission',
    )
    await push(folder, it.github.tokenFor('maintainer'), 'HEAD:refs/heads/workflows')
  })

  test('to a protected branch is refused and changes nothing', async () => {
    const token = await it.token()
    const folder = await worked(token)
    it.github.protectBranch(full, 'main')
    const before = await git(folder, token, 'ls-remote', 'origin', 'refs/heads/main')
    await expect(push(folder, token, 'HEAD:main')).rejects.toThrow('protected branch hook declined')
    expect(await git(folder, token, 'ls-remote', 'origin', 'refs/heads/main')).toBe(before)
    it.github.protectBranch(full, 'main', false)
    await push(folder, token, 'HEAD:main')
  })

  test('to refs/pull is refused', async () => {
    const token = await it.token()
    const folder = await worked(token)
    await expect(push(folder, token, 'HEAD:refs/pull/1/head')).rejects.toThrow('hidden ref')
  })

  test('that is not a fast-forward of what was seen is refused', async () => {
    const token = await it.token()
    const folder = await worked(token)
    const seen = await git(folder, token, 'rev-parse', 'origin/main')
    await it.github.pushToBase(full, { 'meanwhile.txt': 'x' })
    await expect(push(folder, token, 'HEAD:main')).rejects.toThrow('rejected')
    await expect(push(folder, token, `--force-with-lease=main:${seen}`, 'HEAD:main')).rejects.toThrow(
      'stale info',
    )
  })

  test('tells every branch it moved, and the pull requests of its head', async () => {
    const owner = it.github.tokenFor('alice')
    const pull = await it.github.openPull({
      repository: full,
      author: 'alice',
      title: 'Alpha',
      changes: { a: '1' },
    })
    const before = pull.headSha
    const folder = await mkdtemp(join(it.directory, 'fork-'))
    await git(folder, owner, 'clone', '-q', '-b', pull.headRef, `${it.github.url}/alice/community.git`, '.')
    await git(folder, owner, 'commit', '-q', '--amend', '-m', 'Better')
    await git(folder, owner, 'push', '-qf', 'origin', 'HEAD')
    await it.github.settled()
    expect(pull.headSha).toBe(await git(folder, owner, 'rev-parse', 'HEAD'))
    const synchronize = it.receiver.received.find((each) => each.payload['action'] === 'synchronize')
    expect(synchronize?.payload).toMatchObject({ before, after: pull.headSha, sender: { login: 'alice' } })
    it.receiver.received.length = 0
    const token = await it.token()
    const work = await worked(token)
    await push(work, token, 'HEAD:refs/heads/one', 'HEAD:refs/heads/two', 'HEAD:main')
    await it.github.settled()
    const pushes = it.receiver.received.filter((each) => each.event === 'push')
    expect(pushes.map((each) => String(each.payload['ref'])).sort()).toEqual([
      'refs/heads/main',
      'refs/heads/one',
      'refs/heads/two',
    ])
    const main = pushes.find((each) => each.payload['ref'] === 'refs/heads/main')
    expect(main?.payload).toMatchObject({
      created: false,
      forced: false,
      head_commit: { added: [], modified: ['more.txt'] },
      pusher: { name: 'catalog-bot[bot]' },
    })
  })
})
