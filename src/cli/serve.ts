// `serve`: runs the GitHub App until a signal stops it.
import { startBotFromEnvironment } from '../server/start.ts'
import { printToStderr } from './output.ts'

export async function runServe(): Promise<void> {
  const app = await startBotFromEnvironment({ environment: process.env, say: printToStderr })
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      app.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
}
