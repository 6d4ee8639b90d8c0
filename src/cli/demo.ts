// `demo`: exits with 0 only if every outcome is as expected.
import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { setExitCode, printToStdout } from './output.ts'

interface DemoCommandOptions {
  readonly keep?: boolean
  readonly verbose?: boolean
}

export interface DemoRunOptions {
  readonly print: (line: string) => void
  /** If set, the demo also prints catalog-bot's log. */
  readonly verbose?: boolean | undefined
  /** Called at the end. The demo keeps running until the promise resolves. */
  readonly keep?: ((addresses: readonly string[]) => Promise<void>) | undefined
  /** Time limit for all pull requests, from the moment when catalog-bot starts listening. */
  readonly timeoutMs?: number
}

/** Resolves to true if every pull request ended as expected. */
export type DemoRunner = (telling: DemoRunOptions) => Promise<boolean>

/**
 * The sandbox is not part of the server, so the demo is not imported statically. In a checkout, it is a source file. In the
 * published package, it is the single script that scripts/build.ts creates.
 */
const demoScriptUrl = new URL(
  extname(import.meta.url) === '.ts' ? '../../sandbox/demo/run-demo.ts' : '../demo/run-demo.js',
  import.meta.url,
)

export async function runDemoCommand(
  { keep, verbose }: DemoCommandOptions,
  scriptUrl = demoScriptUrl,
): Promise<void> {
  if (!existsSync(scriptUrl))
    throw new Error('the demo runs only from a checkout of catalog-bot, which this installation is not')
  const { runDemo } = (await import(scriptUrl.href)) as { readonly runDemo: DemoRunner }
  // Exits through the `exit` event, which stops the catalog-bot that the demo started.
  const stop = () => process.exit(143)
  process.once('SIGTERM', stop)
  const good = await runDemo({
    print: printToStdout,
    verbose,
    ...(keep === true && {
      keep: async (addresses: readonly string[]) => {
        printToStdout(
          [
            '',
            'The demo is still running at the following addresses. Press Ctrl-C to stop it.',
            ...addresses,
          ].join('\n'),
        )
        process.off('SIGTERM', stop)
        await new Promise<void>((resolve) => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
        })
      },
    }),
  })
  setExitCode(good ? 0 : 1)
}
