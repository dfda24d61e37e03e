import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { client } from './client.ts'
import { durationText } from './text.tsx'

/** Counts down to a time, by the clock of the server. */
export function Countdown({ until, words = 'expires in' }: { readonly until: number; readonly words?: string }): VNode {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  const left = Math.floor((until - client.now()) / 1_000) * 1_000
  return <span class={left < 30_000 ? 'soon' : ''}>{left > 0 ? `${words} ${shortly(left)}` : 'expired'}</span>
}

function shortly(milliseconds: number): string {
  return milliseconds < 60_000 ? `${milliseconds / 1_000} s` : durationText(milliseconds)
}
