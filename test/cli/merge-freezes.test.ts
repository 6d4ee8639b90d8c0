// `landings`: on the store itself, through the App that has it, and in words where neither can be had.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import pino from 'pino'
import { openControlSocket } from '../../src/app/control-socket.ts'
import { storeFolder } from '../../src/app/settings.ts'
import { openStore } from '../../src/store/store.ts'
import { copyPreparedStore } from '../store/prepared-store.ts'
import { systemTestClock } from '../store/sample-records.ts'
import { catalogBotIn } from './command.ts'

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'landings-'))
afterAll(() => rmSync(temporaryDirectory, { recursive: true, force: true }))
const runLandings = (...parameters: string[]) => catalogBotIn(temporaryDirectory, 'landings', ...parameters)
const repositoryArguments = ['--repository', 'o/R']

test('stop, list and resume through a running App and without one', async () => {
  expect(await runLandings()).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no store in data'),
  })
  const dataDirectory = storeFolder(join(temporaryDirectory, 'data'))
  await copyPreparedStore(dataDirectory)
  const store = await openStore({ dataDirectory, clock: systemTestClock })
  const unanswered = await runLandings()
  const socket = await openControlSocket(join(temporaryDirectory, 'data'), {
    store,
    log: pino({ level: 'silent' }),
  })
  try {
    // Somebody has the folder, and no socket was there.
    expect(unanswered).toMatchObject({ code: 2, err: expect.stringContaining('does not answer at') })
    expect(
      await runLandings(
        'stop',
        ...repositoryArguments,
        '--branch',
        'main',
        '--reason',
        'release \u001b[31mday',
      ),
    ).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^o\/R main: merging into main was frozen by .* \(command line\) at .*: release [^\u001b]*day/,
      ),
    })
    expect(await store.listFreezes()).toMatchObject([
      { repository: { owner: 'o', name: 'R' }, branch: 'main', kind: 'frozen', by: { kind: 'command-line' } },
    ])
    await store.freezeMerges({
      repository: { owner: 'o', name: 'R' },
      branch: 'main',
      kind: 'audit',
      reason: 'x',
      by: { kind: 'bot' },
    })
    expect(await runLandings('stop')).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs --repository'),
    })
  } finally {
    await socket.close()
    await store.close()
  }
  const resumed = await runLandings('resume', ...repositoryArguments)
  expect(resumed).toMatchObject({ code: 0, err: expect.stringContaining('resume with --audit') })
  const all = await runLandings('resume', ...repositoryArguments, '--audit', '--json')
  expect(JSON.parse(all.out)).toMatchObject({ changed: [{ kind: 'audit' }], stops: [] })
  expect(await runLandings('resume', ...repositoryArguments)).toMatchObject({ code: 1 })
}, 180_000)
