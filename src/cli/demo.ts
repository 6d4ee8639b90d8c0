// `demo`: exit 0 only when every outcome is as it should be.
import { runDemo } from '../demo/run-demo.ts'
import { exitWith, print } from './output.ts'

export interface DemoOptions {
  readonly keep?: boolean
  readonly verbose?: boolean
}

export async function demo({ keep, verbose }: DemoOptions): Promise<void> {
  const good = await runDemo({
    say: print,
    verbose,
    ...(keep === true && {
      keep: async (addresses: readonly string[]) => {
        print(['', 'It goes on until you press Ctrl-C:', ...addresses].join('\n'))
        await new Promise<void>((resolve) => process.once('SIGINT', resolve))
      },
    }),
  })
  exitWith(good ? 0 : 1)
}
