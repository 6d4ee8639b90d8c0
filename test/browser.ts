// A real headless Chromium from Debian, for what people see. Tests that need it are skipped and counted without it.
import { chromium, type Browser } from 'playwright-core'
import { isOnPath } from './is-on-path.ts'

export const hasBrowser = isOnPath('chromium')

/** Without Chromium's sandbox: tests run as root in CI, and only open pages that they made. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}
