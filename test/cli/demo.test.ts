import { expect, test } from '@jest/globals'
import { runDemoCommand } from '../../src/cli/demo.ts'

test('the demo explains where to run it if the installation does not include it, as in the container image', async () => {
  await expect(runDemoCommand({}, new URL('file:///no/run-demo.js'))).rejects.toThrow(
    'the demo runs only from a checkout of catalog-bot, which this installation is not',
  )
})
