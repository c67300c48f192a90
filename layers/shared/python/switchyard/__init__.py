"""What every part of Switchyard shares; the folder above is the Lambda layer."""
