import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { full, furnish, name } from './sample-world.ts'
import type { Furnished } from './sample-world.ts'

let it: Furnished
beforeAll(async () => {
  it = await furnish()
})
afterAll(async () => it.stop())

test('a browser sees pull requests, their checks and comments, as text', async () => {
  const pull = await it.github.openPull({
    repository: full,
    author: 'alice',
    title: 'A <b>title</b>',
    changes: { a: '1' },
  })
  await it.octokit.rest.checks.create({
    ...name,
    name: 'validation',
    head_sha: pull.headSha,
    conclusion: 'failure',
  })
  it.github.comment(pull, 'bob', '<script>alert(1)</script>')
  const list = await fetch(`${it.github.url}/${full}`)
  expect(list.headers.get('content-type')).toContain('text/html')
  expect(await list.text()).toContain(`href="/${full}/pull/${pull.number}"`)
  const page = await (await fetch(`${it.github.url}/${full}/pull/${pull.number}`)).text()
  expect(page).toContain('validation: failure')
  expect(page).toContain('&lt;script&gt;')
  expect(page).not.toMatch(/<script|<b>/)
})

test('a private repository has no page', async () => {
  await it.github.createRepository('catalogs', 'inner', { private: true })
  expect((await fetch(`${it.github.url}/catalogs/inner`)).status).toBe(404)
})

test('an answer of 304 costs nothing of the hour', async () => {
  const { headers } = await it.octokit.rest.repos.get(name)
  const before = it.installation.remaining
  const ask = it.octokit.rest.repos.get({ ...name, headers: { 'if-none-match': headers.etag ?? '' } })
  await expect(ask).rejects.toMatchObject({ status: 304 })
  expect(it.installation.remaining).toBe(before)
})
