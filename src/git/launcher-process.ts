// The process of launcher.ts. It ends with its parent; the programs it started run to their end.
import { runProcess, type Ended, type ProcessOrder } from './run-process.ts'

/** Without an order: stop the program with this number. */
export interface LauncherRequest {
  readonly id: number
  readonly order?: ProcessOrder
}

export type LauncherReply = { readonly id: number } & (
  | { readonly ended: Ended }
  | { readonly failed: { readonly code: string | undefined; readonly message: string } }
)

const running = new Map<number, AbortController>()

process.on('message', ({ id, order }: LauncherRequest) => {
  if (order === undefined) {
    running.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  running.set(id, controller)
  const reply = (said: LauncherReply) => {
    running.delete(id)
    if (process.connected) process.send?.(said, () => undefined)
  }
  runProcess(order, controller.signal).then(
    (ended) => reply({ id, ended }),
    ({ code, message }: NodeJS.ErrnoException) => reply({ id, failed: { code, message } }),
  )
})
// Signals to the group are meant for the parent, which may still have orders.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
