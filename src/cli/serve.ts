// `serve`: the GitHub App, until it is told to stop.
import { start } from '../app/start.ts'
import { say } from './output.ts'

export async function serve(): Promise<void> {
  const app = await start({ environment: process.env, say })
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
