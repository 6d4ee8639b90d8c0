// `serve`: runs the GitHub App until a signal stops it.
import { startBotFromEnvironment } from '../server/start.ts'
import { closeOnTerminationSignal, printToStderr } from './output.ts'

export async function runServe(): Promise<void> {
  const app = await startBotFromEnvironment({ environment: process.env, print: printToStderr })
  closeOnTerminationSignal(() => app.close())
}
