import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fullRepositoryName, startGitHubFixture, runGit, repo, createPullOptions } from '../github-fixture.ts'

const fixture = await startGitHubFixture()
const { github, octokit } = fixture
const repositoryGitUrl = `${github.url}/${fullRepositoryName}.git`
afterAll(async () => fixture.stop())

/** A clone with one more commit on main. */
async function cloneAndAddCommit(token: string): Promise<string> {
  const folder = await mkdtemp(join(fixture.directory, 'work-'))
  await runGit(folder, token, 'clone', '-q', repositoryGitUrl, '.')
  await writeFile(join(folder, 'more.txt'), folder)
  await runGit(folder, token, 'add', '.')
  await runGit(folder, token, 'commit', '-qm', 'More')
  return folder
}
const pushRefs = async (folder: string, token: string, ...refs: string[]): Promise<string> =>
  runGit(folder, token, 'push', '-q', 'origin', ...refs)

describe('reading', () => {
  test('a partial clone omits blobs and fetches them when requested', async () => {
    const folder = await mkdtemp(join(fixture.directory, 'partial-'))
    const token = await fixture.token()
    await runGit(folder, token, 'clone', '-q', '--bare', '--filter=blob:none', repositoryGitUrl, '.')
    const missing = await runGit(folder, token, 'rev-list', '--objects', '--all', '--missing=print')
    expect(missing.split('\n').filter((line) => line.startsWith('?'))).toHaveLength(4)
    expect(await runGit(folder, token, 'show', 'HEAD:README.md')).toBe('# Catalog')
  })

  test('any commit in the fork network can be fetched by its ID, even from an untrusted fork', async () => {
    const fork = await github.fork(fullRepositoryName, 'outsider')
    const sha = await github.pushToBase('outsider/community', { 'planted.txt': 'x' }, { by: 'outsider' })
    expect(fork.knownRefs.get('refs/heads/main')).toBe(sha)
    const folder = await mkdtemp(join(fixture.directory, 'imposter-'))
    await runGit(folder, undefined, 'init', '-q', '--bare')
    await runGit(folder, await fixture.token(), 'fetch', '-q', repositoryGitUrl, sha)
    expect((await octokit.rest.git.getCommit({ ...repo, commit_sha: sha })).data.sha).toBe(sha)
  })

  test('a public repository needs no token but rejects an invalid one, and a private one needs access', async () => {
    await runGit(fixture.directory, undefined, 'ls-remote', repositoryGitUrl)
    await expect(runGit(fixture.directory, 'ghs_wrong', 'ls-remote', repositoryGitUrl)).rejects.toThrow()
    await github.createRepository('catalogs', 'inner', { private: true })
    const inner = `${github.url}/catalogs/inner.git`
    await expect(runGit(fixture.directory, undefined, 'ls-remote', inner)).rejects.toThrow()
    await expect(runGit(fixture.directory, await fixture.token(), 'ls-remote', inner)).rejects.toThrow()
    await runGit(fixture.directory, github.tokenFor('maintainer'), 'ls-remote', inner)
  })
})

describe('pushing', () => {
  test('needs contents: write and a repository that is not archived', async () => {
    const folder = await cloneAndAddCommit(await fixture.token())
    const reader = await fixture.token({ permissions: { contents: 'read' } })
    await expect(pushRefs(folder, reader, 'HEAD:refs/heads/no')).rejects.toThrow('403')
    await expect(pushRefs(folder, github.tokenFor('outsider'), 'HEAD:refs/heads/no')).rejects.toThrow('403')
    await pushRefs(folder, await fixture.token(), 'HEAD:refs/heads/yes')
    github.archive(fullRepositoryName)
    await expect(pushRefs(folder, await fixture.token(), 'HEAD:refs/heads/no')).rejects.toThrow('403')
    github.archive(fullRepositoryName, false)
  })

  test('of workflow changes, even reverted ones, is rejected for an App but accepted for a user', async () => {
    const folder = await cloneAndAddCommit(await fixture.token())
    await mkdir(join(folder, '.github', 'workflows'), { recursive: true })
    await writeFile(join(folder, '.github', 'workflows', 'evil.yml'), 'on: push\n')
    await runGit(folder, undefined, 'add', '.')
    await runGit(folder, undefined, 'commit', '-qm', 'Edit')
    await runGit(folder, undefined, 'rm', '-q', '.github/workflows/evil.yml')
    await runGit(folder, undefined, 'commit', '-qm', 'Take it back')
    await expect(pushRefs(folder, await fixture.token(), 'HEAD:refs/heads/no')).rejects.toThrow(
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/evil.yml` without `workflows` permission',
    )
    await pushRefs(folder, github.tokenFor('maintainer'), 'HEAD:refs/heads/workflows')
  })

  test('to a protected branch is rejected and changes nothing', async () => {
    const token = await fixture.token()
    const folder = await cloneAndAddCommit(token)
    github.protectBranch(fullRepositoryName, 'main')
    const before = await runGit(folder, token, 'ls-remote', 'origin', 'refs/heads/main')
    await expect(pushRefs(folder, token, 'HEAD:main')).rejects.toThrow('protected branch hook declined')
    expect(await runGit(folder, token, 'ls-remote', 'origin', 'refs/heads/main')).toBe(before)
    github.protectBranch(fullRepositoryName, 'main', false)
    await pushRefs(folder, token, 'HEAD:main')
  })

  test('to refs/pull is rejected', async () => {
    const token = await fixture.token()
    const folder = await cloneAndAddCommit(token)
    await expect(pushRefs(folder, token, 'HEAD:refs/pull/1/head')).rejects.toThrow('hidden ref')
  })

  test('that is not a fast-forward, or that has a stale lease, is rejected', async () => {
    const token = await fixture.token()
    const folder = await cloneAndAddCommit(token)
    const seen = await runGit(folder, token, 'rev-parse', 'origin/main')
    await github.pushToBase(fullRepositoryName, { 'meanwhile.txt': 'x' })
    await expect(pushRefs(folder, token, 'HEAD:main')).rejects.toThrow('rejected')
    await expect(pushRefs(folder, token, `--force-with-lease=main:${seen}`, 'HEAD:main')).rejects.toThrow(
      'stale info',
    )
  })

  test('sends webhooks for every moved branch and for the pull requests of that head', async () => {
    const owner = github.tokenFor('alice')
    const pull = await github.openPull(createPullOptions('Alpha', { a: '1' }))
    const before = pull.headSha
    const folder = await mkdtemp(join(fixture.directory, 'fork-'))
    await runGit(folder, owner, 'clone', '-q', '-b', pull.headRef, `${github.url}/alice/community.git`, '.')
    await runGit(folder, owner, 'commit', '-q', '--amend', '-m', 'Better')
    await runGit(folder, owner, 'push', '-qf', 'origin', 'HEAD')
    await github.settled()
    expect(pull.headSha).toBe(await runGit(folder, owner, 'rev-parse', 'HEAD'))
    const synchronize = fixture.receiver.received.find((each) => each.payload['action'] === 'synchronize')
    expect(synchronize?.payload).toMatchObject({ before, after: pull.headSha, sender: { login: 'alice' } })
    fixture.receiver.received.length = 0
    const token = await fixture.token()
    const work = await cloneAndAddCommit(token)
    await pushRefs(work, token, 'HEAD:refs/heads/one', 'HEAD:refs/heads/two', 'HEAD:main')
    await github.settled()
    const pushes = fixture.receiver.received.filter((each) => each.event === 'push')
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
