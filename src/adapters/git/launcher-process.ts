// The process of launcher.ts. It ends when its parent ends, but the programs that it started continue.
import { runProcess, type ProcessResult, type ProcessSpec } from './run-process.ts'

/** Without an order: stop the program with this number. */
export interface ProcessLauncherRequest {
  readonly id: number
  readonly order?: ProcessSpec
}

export type ProcessLauncherResponse = { readonly id: number } & (
  | { readonly ended: ProcessResult }
  | { readonly failed: { readonly code: string | undefined; readonly message: string } }
)

const abortControllerByRequestId = new Map<number, AbortController>()

process.on('message', ({ id, order }: ProcessLauncherRequest) => {
  if (order === undefined) {
    abortControllerByRequestId.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  abortControllerByRequestId.set(id, controller)
  const sendReply = (launcherReply: ProcessLauncherResponse) => {
    abortControllerByRequestId.delete(id)
    if (process.connected) process.send?.(launcherReply, () => undefined)
  }
  runProcess(order, controller.signal).then(
    (ended) => sendReply({ id, ended }),
    ({ code, message }: NodeJS.ErrnoException) => sendReply({ id, failed: { code, message } }),
  )
})
// Signals to the group are meant for the parent, which may still have orders.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
