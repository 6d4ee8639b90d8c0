// A worker that follows orders, good and bad, for the tests of its callers.
import { appendFileSync, readFileSync } from 'node:fs'
import { serveWorkerRequests } from '../../../src/adapters/workers/answer-orders.ts'

export type TestWorkerJob =
  | { readonly kind: 'say'; readonly value: unknown }
  | { readonly kind: 'pid' }
  /** Asks the parent process, and waits for its answer. */
  | { readonly kind: 'ask' }
  /** Ends without asking. `ask-late` asks as this job. */
  | { readonly kind: 'leave-running' }
  | { readonly kind: 'ask-late' }
  | { readonly kind: 'environment' }
  | { readonly kind: 'spin' }
  /** Appends a letter to the file, and dies of `signal` until there are more than `times` letters. */
  | { readonly kind: 'die'; readonly signal: NodeJS.Signals; readonly diary: string; readonly times: number }
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'fill' }
  | { readonly kind: 'throw'; readonly words: string }
  | { readonly kind: 'unsendable' }
  /** Responds when the file exists. */
  | { readonly kind: 'wait'; readonly diary: string }

let askLate: ((request: unknown) => Promise<unknown>) | undefined

serveWorkerRequests(async (job: TestWorkerJob, callBack): Promise<unknown> => {
  switch (job.kind) {
    case 'say':
      return job.value
    case 'pid':
      return process.pid
    case 'ask':
      return callBack('anything')
    case 'leave-running':
      askLate = callBack
      return process.pid
    case 'ask-late':
      return askLate?.('anything').catch(String)
    case 'environment':
      return { ...process.env }
    case 'spin':
      for (;;) await Promise.resolve()
    case 'die':
      appendFileSync(job.diary, 'x')
      if (readTextFileOrEmpty(job.diary).length > job.times) return 'done'
      process.kill(process.pid, job.signal)
      return new Promise(() => {})
    case 'exit':
      process.exit(job.code)
      break
    case 'fill': {
      const allocated: unknown[] = []
      for (;;) allocated.push(Array.from({ length: 1000 }, (_, index) => ({ index })))
    }
    case 'throw':
      throw new Error(job.words)
    case 'unsendable':
      return () => 'a function'
    case 'wait':
      while (readTextFileOrEmpty(job.diary) === '') await new Promise((resolve) => setTimeout(resolve, 5))
      return process.pid
  }
})

function readTextFileOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
