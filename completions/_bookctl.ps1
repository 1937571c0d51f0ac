# Completion of bookctl's commands, flags and values for PowerShell 7.3 and newer.
# bookctl itself answers, so that this file need not change with it.

Register-ArgumentCompleter -Native -CommandName bookctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words as they are written, and never evaluated: nothing runs before Enter.
    $words = @($commandAst.CommandElements |
            Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
            ForEach-Object {
                if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
                else { $_.Extent.Text }
            })
    $before = $env:BOOKCTL_COMPLETE
    try {
        $env:BOOKCTL_COMPLETE = 'powershell'
        & bookctl -- @words "$wordToComplete" 2>$null | ForEach-Object {
            $value, $about = $_ -split "`t", 2
            if (-not $about) { $about = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
        }
    }
    finally {
        $env:BOOKCTL_COMPLETE = $before
    }
}
