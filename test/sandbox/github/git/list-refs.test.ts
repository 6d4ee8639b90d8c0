// Compares the responses with those of git's upload-pack for the same request and folder.
import { afterAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { respondToLsRefs } from '../../../../sandbox/github/git/list-refs.ts'
import { createOriginRepository, createTemporaryDirectory } from '../../../adapters/git/origin.ts'

const formatPktLine = (text: string) => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
const createLsRefsRequest = (...rest: string[]) =>
  Buffer.from(
    `${formatPktLine('command=ls-refs')}${formatPktLine('object-format=sha1')}0001${rest.map(formatPktLine).join('')}0000`,
  )

const temporaryDirectory = createTemporaryDirectory('list-refs')
const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
const first = originRepository.commit({ x: '1' })
for (const name of ['main', 'main-2', 'maintenance/a', 'other']) originRepository.branch(name, first)
originRepository.pull(7, first)
originRepository.pull(70, first)
originRepository.git(['pack-refs', '--all'])
originRepository.git(['update-ref', 'refs/tags/refs/heads/tagged', first])
// A ref that moved after it was packed, one that is not packed, and a deleted one.
originRepository.branch('main', originRepository.commit({ x: '2' }, [first]))
originRepository.branch('main-3', first)
originRepository.git(['update-ref', '-d', 'refs/heads/main-2'])
afterAll(() => temporaryDirectory.remove())

test.each([
  [['ref-prefix refs/heads/main']],
  [['ref-prefix refs/heads/main', 'ref-prefix refs/pull/7/head']],
  [['ref-prefix refs/heads/maintenance/']],
  [['ref-prefix refs/heads/nowhere']],
  [['ref-prefix refs/heads/m', 'ref-prefix refs/heads/main', 'ref-prefix refs/pull/70']],
  [['peel', 'symrefs', 'unborn', 'ref-prefix refs/heads/main', 'ref-prefix refs/tags/refs/heads/main']],
  [['peel', 'ref-prefix refs/heads/other', 'ref-prefix refs/refs/heads/other']],
])('the response to %j is the same as from git', async (body) => {
  const request = createLsRefsRequest(...body)
  const git = spawnSync('git', ['upload-pack', '--stateless-rpc', '.'], {
    cwd: originRepository.directory,
    env: { PATH: process.env['PATH'], GIT_PROTOCOL: 'version=2' },
    input: request,
  })
  expect((await respondToLsRefs(originRepository.directory, request))?.toString()).toBe(git.stdout.toString())
})

test.each([
  [createLsRefsRequest()],
  [createLsRefsRequest('other', 'ref-prefix refs/heads/main')],
  [createLsRefsRequest('peel', 'ref-prefix refs/tags/refs/heads/tagged')],
  [createLsRefsRequest('ref-prefix HEAD')],
  [createLsRefsRequest('ref-prefix refs/tags/')],
  [Buffer.from(`${formatPktLine('command=fetch')}0000`)],
  [Buffer.from('')],
  [createLsRefsRequest('ref-prefix refs/heads/main').subarray(0, -4)],
])('%# is left to git', async (request) => {
  expect(await respondToLsRefs(originRepository.directory, request)).toBeUndefined()
})
